"""A network that remembers nothing as training computes it: forward, and back by hand, in memory that is made once.

Through torch's autograd a step of a small network is some fifty operations, each with memory of its own, and with minibatches
of a thousand what is between the matrix products takes as long as they do. Here they stand one after the other and little else
does. What learns stays in float32; the layers are copied before each pass, in the precision that is multiplied, the heads side by
side as one. Bytes are scaled as they come in, which is exact in bfloat16 too where scales are powers of two: were the first layer
to take it in, as it does to play, its gradient would be a small difference of large numbers.

Source: Rumelhart, Hinton, Williams, "Learning representations by back-propagating errors", 1986.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from .modules import Layers, ObservationNet, into, signs
from .quick_net import padded


class Multilayer:
    """The layers of a network and some heads, over the bytes of observations.

    After :meth:`backward` the gradient of every parameter is in its ``grad``, and all of them are in ``gradient (N,) float32``,
    of which these are views: what was there before is written over.
    """

    def __init__(self, net: ObservationNet, heads: Sequence[nn.Linear], dtype: torch.dtype) -> None:
        """``net`` is not copied, and stays on its device; ``dtype`` is what is multiplied."""
        layers = [[layer] for layer in net.body if isinstance(layer, nn.Linear)] + [list(heads)]
        parameters = [p for layer in layers for p in (*(part.weight for part in layer), *(part.bias for part in layer))]
        sizes = [p.numel() for p in parameters]
        self.dtype = dtype
        self._factor, self._shift = net.factor.to(dtype), (-net.zero * net.factor).to(dtype)
        self._widths = [len(net.zero), *(sum(part.out_features for part in layer) for layer in layers)]
        self._parameters = [p.detach() for p in parameters]
        copied = torch.empty(sum(sizes), dtype=dtype, device=net.factor.device)
        self._copies = [copy.view(p.shape) for copy, p in zip(torch.split(copied, sizes), parameters, strict=True)]
        self._layers = self._cut(copied)
        self.gradient = torch.empty(sum(sizes), device=net.factor.device)
        self._multiplied = self.gradient if dtype is torch.float32 else torch.empty_like(copied)
        self._slopes = self._cut(self._multiplied)
        for p, slope in zip(parameters, torch.split(self.gradient, sizes), strict=True):
            p.grad = slope.view(p.shape)
        self._rooms: list[Tensor] = []
        self._slope_rooms: list[Tensor] = []

    def _cut(self, row: Tensor) -> Layers:
        """The layers in a ``row (N,)``: weight, bias, weight, bias …"""
        shapes = [(after, before) for before, after in pairwise(self._widths)]
        pieces = torch.split(row, [size for after, before in shapes for size in (after * before, after)])
        return [(weight.view(shape), bias) for weight, bias, shape in zip(pieces[::2], pieces[1::2], shapes, strict=True)]

    @torch.no_grad()
    def forward(self, observation: Tensor) -> Tensor:
        """What the heads give of ``observation (K, size) uint8``, ``(K, outputs) float32``; with the parameters as they are now.

        In float32 the next pass writes it over.
        """
        torch._foreach_copy_(self._copies, self._parameters)
        self._rows = len(observation)
        size = padded(self._rows, self.dtype)
        if not self._rooms or size > len(self._rooms[0]):
            self._rooms, self._slope_rooms = (
                [torch.zeros((size, width), dtype=self.dtype, device=observation.device) for width in self._widths]
                for _ in range(2)
            )
        self._seen = [room[:size] for room in self._rooms]
        scaled = self._seen[0][: self._rows]
        scaled.copy_(observation)
        torch.addcmul(self._shift, scaled, self._factor, out=scaled)
        return into(self._layers, self._seen)[: self._rows].float()

    @property
    def features(self) -> Tensor:
        """What the heads took in the last pass, ``(K, width)``; the next one writes it over."""
        return self._seen[-2][: self._rows]

    @torch.no_grad()
    def backward(self, outputs: Tensor, features: Tensor | None = None) -> None:
        """Gradients of all parameters, from that by the ``outputs (K, outputs)`` of the last pass.

        And from that by its ``features (K, width)``, if something else took these too.
        """
        slopes = [room[: len(self._seen[0])] for room in self._slope_rooms]
        slopes[-1][: self._rows] = outputs
        slopes[-1][self._rows :] = 0  # whatever stands in these rows, nothing comes of it
        last = len(self._layers) - 1
        for k in range(last, -1, -1):
            above, below, taken = slopes[k + 1], slopes[k], self._seen[k]
            weight_slope, bias_slope = self._slopes[k]
            torch.mm(above.t(), taken, out=weight_slope)
            torch.sum(above, dim=0, out=bias_slope)
            if k:
                torch.mm(above, self._layers[k][0], out=below)
                if k == last and features is not None:
                    below[: self._rows] += features
                torch.ops.aten.threshold_backward.grad_input(signs(below), signs(taken), 0, grad_input=signs(below))
        if self._multiplied is not self.gradient:
            self.gradient.copy_(self._multiplied)
