"""Fast inference and training of plain MLPs: chains of linear layers and ReLUs over the bytes of observations.

Through torch's modules and autograd, a step of a small network is some fifty operations, each with memory of its own; with
batches of a thousand rows these take as long as the matrix products between them. Here the layers follow one another in buffers
that are used again. Everything starts from a :class:`LinearChain`, which :func:`linear_chain` makes only of a body that is one;
networks that are no chain go through torch.

Inference (:class:`FusedInference`) multiplies in bfloat16 where the processor does so in hardware (AVX-512 BF16, AMX), about four
times as fast. Bytes are exact in it, and logits are off by less than a hundredth of their spread. On one machine the same
observations in the same calls give the same bits; another processor, or another release of torch, may add in another order.

Training (:class:`FusedTraining`) keeps parameters and gradients in float32 and is one ``torch.autograd.Function``.

Source of the backward pass: Rumelhart, Hinton, Williams, "Learning representations by back-propagating errors", 1986.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...base.devices import torch_threads
from .modules import ObservationNet

SIZES = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Numbers of rows that are multiplied at once: in bfloat16 a batch is padded to the next of these.

torch makes a kernel for each size that it meets in bfloat16, which takes longer than to use it. Beyond the largest size the
features leave the processor's cache.
"""
MAX_ROWS = SIZES[-1]

RunPair = Callable[[Callable[[], object], Callable[[], object]], None]
"""Calls two functions that do not depend on each other, at the same time or one after the other."""


def one_after_the_other(one: Callable[[], object], other: Callable[[], object]) -> None:
    """Is the :data:`RunPair` of one thread."""
    one()
    other()


Layers = list[tuple[Tensor, Tensor]]
"""Weight ``(out, in)`` and bias ``(out,)`` of linear layers, one after the other."""


def fast_dtype() -> torch.dtype:
    """Returns ``torch.bfloat16`` where the processor is known to multiply it in hardware, else ``torch.float32``.

    Releases of torch without ``torch.cpu.get_capabilities`` do not tell; these get float32.
    """
    get_capabilities: Callable[[], Mapping[str, Any]] = getattr(torch.cpu, "get_capabilities", dict)
    capabilities = get_capabilities()
    return torch.bfloat16 if capabilities.get("amx_bf16") or capabilities.get("avx512_bf16") else torch.float32


def padded(rows: int, dtype: torch.dtype) -> int:
    """Returns how many rows to multiply for ``rows``: see :data:`SIZES`, whole thousands beyond them; in float32 as many."""
    if dtype is not torch.bfloat16:
        return rows
    return SIZES[bisect_left(SIZES, rows)] if rows <= MAX_ROWS else -(-rows // 1024) * 1024


@dataclass(frozen=True)
class LinearChain:
    """A network that is a chain: scaled bytes, linear layers with a ReLU after each, and linear heads side by side."""

    net: ObservationNet
    linears: list[nn.Linear]
    heads: list[nn.Linear]

    @property
    def widths(self) -> list[int]:
        """Inputs, then the outputs of each layer, the heads being the last."""
        return [len(self.net.zero), *(layer.out_features for layer in self.linears), sum(self.head_widths)]

    @property
    def head_widths(self) -> list[int]:
        """Outputs of each head."""
        return [head.out_features for head in self.heads]

    @torch.no_grad()
    def layers(self, dtype: torch.dtype, device: str | torch.device | None = None) -> Layers:
        """Returns the layers over the bytes as they are, with copied weights in ``dtype`` on ``device`` (None: the network's).

        The scaling of bytes is folded into the first layer, in float64.
        """
        device = device or self.net.device
        linears = [*([layer] for layer in self.linears), self.heads]
        weights = [torch.cat([part.weight for part in layer]).to(device).double() for layer in linears]
        biases = [torch.cat([part.bias for part in layer]).to(device).double() for layer in linears]
        weights[0] = weights[0] * self.net.factor.to(device)
        biases[0] = biases[0] - weights[0] @ self.net.zero.to(device).double()
        return [(weight.to(dtype), bias.to(dtype)) for weight, bias in zip(weights, biases, strict=True)]


def linear_chain(net: ObservationNet, body: nn.Module, heads: Sequence[nn.Linear]) -> LinearChain | None:
    """Returns the chain of ``body`` and ``heads``, or None where ``body`` is not linear layers with a ReLU after each."""
    if not isinstance(body, nn.Sequential):
        return None
    linears, activations = list(body)[::2], list(body)[1::2]
    plain = all(type(layer) is nn.Linear and layer.bias is not None for layer in [*linears, *heads])
    if not plain or len(linears) != len(activations) or not all(type(layer) is nn.ReLU for layer in activations):
        return None
    if any(module._forward_hooks or module._forward_pre_hooks for module in (body, *body, *heads)):
        return None
    return LinearChain(net, [layer for layer in linears if isinstance(layer, nn.Linear)], list(heads))


def apply_layers(layers: Layers, observation: Tensor) -> Tensor:
    """Returns the outputs of the last of ``layers`` for ``observation (K, size) uint8``, a ReLU after each of the others."""
    x = observation.to(layers[0][0].dtype)  # bytes are exact in bfloat16 too
    for weight, bias in layers[:-1]:
        x = nn.functional.linear(x, weight, bias).relu_()
    return nn.functional.linear(x, *layers[-1])


def _forward(layers: Layers, buffers: Sequence[Tensor]) -> Tensor:
    """Writes the outputs of layer k to ``buffers[k + 1] (K, out)``; ``buffers[0] (K, in)`` holds the inputs in their dtype."""
    for k, (weight, bias) in enumerate(layers):
        torch.addmm(bias, buffers[k], weight.t(), out=buffers[k + 1])
        if k + 1 < len(layers):
            sign_view(buffers[k + 1]).clamp_min_(0)
    return buffers[-1]


def sign_view(x: Tensor) -> Tensor:
    """Returns the same memory as numbers with the same signs; a ReLU depends on nothing else.

    A bfloat16 has the sign that its bits have as an int16, which torch on a CPU compares several times as fast.
    """
    return x.view(torch.int16) if x.dtype is torch.bfloat16 else x


class FusedInference:
    """The outputs of a chain without gradients, from a copy of its weights."""

    def __init__(
        self,
        chain: LinearChain,
        dtype: torch.dtype | None = None,
        *,
        device: str | torch.device | None = None,
        threads: int = 1,
    ) -> None:
        """``dtype`` of the products (None: :func:`fast_dtype`); ``device`` to compute on (None: the network's).

        ``threads`` of torch compute :meth:`logits`; a call has those of the caller.
        """
        self._threads = threads
        self.dtype = dtype or fast_dtype()
        self.chain = chain
        self._device = torch.device(device or chain.net.device)
        self.refresh()
        self._head_widths = chain.head_widths
        self._buffers = [torch.zeros((MAX_ROWS, width), dtype=self.dtype) for width in chain.widths]

    def refresh(self) -> None:
        """Copies the weights of the network as they are now."""
        self._layers = self.chain.layers(self.dtype, self._device)

    @torch.inference_mode()
    def __call__(self, observation: Tensor) -> list[Tensor]:
        """Returns the outputs of each head, ``(K, outputs) float32``, of ``observation (K, size) uint8`` on the device."""
        if self._device.type != "cpu":
            outputs = apply_layers(self._layers, observation).float()
        else:
            rows = observation.shape[0]
            outputs = torch.empty((rows, sum(self._head_widths)))
            for at in range(0, rows, MAX_ROWS):
                self._compute(observation[at : at + MAX_ROWS], outputs[at : at + MAX_ROWS])
        return list(outputs.split_with_sizes(self._head_widths, dim=1))

    def _compute(self, observation: Tensor, outputs: Tensor) -> None:
        rows = observation.shape[0]
        self._buffers[0][:rows] = observation
        size = padded(rows, self.dtype)
        outputs.copy_(_forward(self._layers, [buffer[:size] for buffer in self._buffers])[:rows])

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns the first head of ``observation (K, size)``, ``(K, A)``, on the CPU by ``threads``."""
        with torch_threads(self._threads):
            logits: NDArray[np.float32] = self(torch.from_numpy(observation))[0].numpy()
        return logits


class FusedTraining:
    """The outputs of a chain with gradients, as one ``torch.autograd.Function`` in memory that is allocated once.

    The weights are copied before each pass in the dtype that is multiplied, the heads side by side as one layer. Bytes are scaled
    as they come in, which is exact in bfloat16 too where scales are powers of two: folded into the first layer, its gradient
    would be a small difference of large numbers.

    ``loss.backward()`` adds to ``grad`` of every parameter that requires one, as for any other module. To autograd, parameters
    are no inputs, since a node for each would take 2 % of a step: hooks of parameters are not called, and ``torch.autograd.grad``
    by a parameter raises RuntimeError.

    Each pass overwrites the activations of the one before, and, where ``grad`` was set to None, the gradients: take the step
    first. A backward pass of other than the latest forward pass raises RuntimeError.

    With ``run_pair`` a pass consists of pairs of parts that may run at the same time. The parts are the same where they do not,
    so that the bits do not depend on it.
    """

    def __init__(self, chain: LinearChain, dtype: torch.dtype, run_pair: RunPair | None = None) -> None:
        """``dtype`` of the products. The network is not copied, and stays on its device."""
        net, layers = chain.net, [*([layer] for layer in chain.linears), chain.heads]
        self.parameters = [p for layer in layers for p in (*(part.weight for part in layer), *(part.bias for part in layer))]
        self.dtype = dtype
        self._run_pair = run_pair
        self._factor, self._shift = net.factor, -net.zero * net.factor
        self._widths, self._head_widths = chain.widths, chain.head_widths
        self._sizes = [p.numel() for p in self.parameters]
        copied, self._computed = (torch.empty(sum(self._sizes), dtype=dtype, device=net.device) for _ in range(2))
        self._copies, self._layers = self._like_parameters(copied), self._as_layers(copied)
        self._layer_grads = self._as_layers(self._computed)
        self._gradient = self._computed if dtype is torch.float32 else self._computed.float()
        self._grads = self._like_parameters(self._gradient)
        self._scaled = torch.empty((0, self._widths[0]))
        self._buffers: list[Tensor] = []
        self._grad_buffers: list[Tensor] = []
        self._pass = 0
        self._differentiable = torch.zeros((), requires_grad=True)  # makes autograd call backward

    def __call__(self, observation: Tensor) -> tuple[Tensor, ...]:
        """Returns the outputs of each head, ``(K, outputs) float32``, and the features ``(K, width)`` that the heads take.

        ``observation (K, size) uint8``.
        """
        outputs: tuple[Tensor, ...] = _Chain.apply(self, observation, self._differentiable)  # type: ignore[no-untyped-call]
        return outputs

    def clip_grad_norm_(self, max_norm: float) -> Tensor:
        """Scales the gradient down to ``max_norm`` if its norm is larger; returns the norm that it had, a scalar.

        As ``torch.nn.utils.clip_grad_norm_`` does, but in one pass over the memory that holds all gradients of a backward pass.
        """
        if any(p.grad is not grad for p, grad in zip(self.parameters, self._grads, strict=True)):
            return nn.utils.clip_grad_norm_(self.parameters, max_norm)
        norm: Tensor = torch.linalg.vector_norm(self._gradient)
        self._gradient *= (max_norm / (norm + 1e-6)).clamp(max=1)
        return norm

    def _padded(self, rows: int) -> int:
        """How many rows to multiply: minibatches differ little in size, so that few kernels are made though steps are small."""
        return -(-rows // 16) * 16 if self.dtype is torch.bfloat16 else rows

    def _like_parameters(self, flat: Tensor) -> list[Tensor]:
        return [part.view(p.shape) for part, p in zip(torch.split(flat, self._sizes), self.parameters, strict=True)]

    def _as_layers(self, flat: Tensor) -> Layers:
        """The layers in ``flat (N,)``: weight, bias, weight, bias …"""
        shapes = [(after, before) for before, after in pairwise(self._widths)]
        pieces = torch.split(flat, [size for after, before in shapes for size in (after * before, after)])
        return [(weight.view(shape), bias) for weight, bias, shape in zip(pieces[::2], pieces[1::2], shapes, strict=True)]

    def forward(self, observation: Tensor) -> tuple[int, list[Tensor]]:
        """Returns the number of this pass, and the outputs of the heads and of the layer before them."""
        torch._foreach_copy_(self._copies, self.parameters)
        rows = len(observation)
        size = self._padded(rows)
        if not self._buffers or size > len(self._buffers[0]):
            self._buffers, self._grad_buffers = (
                [torch.zeros((size, width), dtype=self.dtype, device=observation.device) for width in self._widths]
                for _ in range(2)
            )
            self._scaled = self._buffers[0].float()  # torch is slow at scaling in bfloat16
        if self._run_pair:
            half = min(-(-size // 32) * 16, size)
            one, other = (partial(self._forward_rows, observation, *part) for part in ((0, half), (half, size)))
            self._run_pair(one, other)
        else:
            self._forward_rows(observation, 0, size)
        self._pass += 1
        outputs = self._buffers[-1][:rows].float()
        return self._pass, [*outputs.split_with_sizes(self._head_widths, dim=1), self._buffers[-2][:rows]]

    def _forward_rows(self, observation: Tensor, begin: int, end: int) -> None:
        """Writes the activations of the rows from ``begin`` to ``end``; rows beyond ``observation`` are padding."""
        inputs, scaled, seen = [buffer[begin:end] for buffer in self._buffers], self._scaled[begin:end], observation[begin:end]
        scaled = scaled[: len(seen)]
        scaled.copy_(seen)
        torch.addcmul(self._shift, scaled, self._factor, out=scaled)
        if self._scaled is not self._buffers[0]:
            inputs[0][: len(seen)] = scaled
        _forward(self._layers, inputs)

    def backward(self, number: int, rows: int, grads: Sequence[Tensor | None]) -> None:
        """Adds to the gradient of every parameter, from ``grads`` by the outputs of pass ``number``, None being 0."""
        if number != self._pass:
            raise RuntimeError("the fused network has computed another batch since: its activations are overwritten")
        before = [None if p.grad is None else p.grad.clone() for p in self.parameters]  # it may lie in the memory written below
        size = self._padded(rows)
        inputs, deltas = ([buffer[:size] for buffer in buffers] for buffers in (self._buffers, self._grad_buffers))
        *by_heads, by_features = grads
        for head, grad in zip(torch.split(deltas[-1], self._head_widths, dim=1), by_heads, strict=True):
            head[:rows] = 0 if grad is None else grad
        deltas[-1][rows:] = 0  # padding rows add nothing to the gradients
        run_pair = self._run_pair or one_after_the_other
        for k in range(len(self._layers) - 1, 0, -1):
            by_inputs = partial(self._backward_inputs, k, deltas, inputs, by_features if k == len(self._layers) - 1 else None)
            run_pair(by_inputs, partial(self._backward_weights, k, deltas, inputs))
        if self._run_pair:
            half = self._widths[1] // 2
            one, other = (partial(self._backward_weights, 0, deltas, inputs, *units) for units in ((0, half), (half, None)))
            self._run_pair(one, other)
        else:
            self._backward_weights(0, deltas, inputs)
        if self._computed is not self._gradient:
            self._gradient.copy_(self._computed)
        for p, grad, earlier in zip(self.parameters, self._grads, before, strict=True):
            if p.requires_grad:
                p.grad = grad if earlier is None else earlier.add_(grad)

    def _backward_inputs(self, k: int, deltas: list[Tensor], inputs: list[Tensor], by_features: Tensor | None) -> None:
        """Writes the gradient by what layer ``k`` takes, before the ReLU, to ``deltas[k]``; adds ``by_features (K, width)``."""
        below = deltas[k]
        torch.mm(deltas[k + 1], self._layers[k][0], out=below)
        if by_features is not None:
            below[: len(by_features)] += by_features
        torch.ops.aten.threshold_backward.grad_input(sign_view(below), sign_view(inputs[k]), 0, grad_input=sign_view(below))

    def _backward_weights(
        self, k: int, deltas: list[Tensor], inputs: list[Tensor], begin: int = 0, end: int | None = None
    ) -> None:
        """Writes the gradients by weight and bias of layer ``k``, for its outputs from ``begin`` to ``end``."""
        weight_grad, bias_grad = self._layer_grads[k]
        above = deltas[k + 1][:, begin:end]
        torch.mm(above.t(), inputs[k], out=weight_grad[begin:end])
        torch.sum(above, dim=0, out=bias_grad[begin:end])


class _Chain(torch.autograd.Function):
    """:class:`FusedTraining` as autograd calls it."""

    @staticmethod
    def forward(ctx: Any, fused: FusedTraining, observation: Tensor, _: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.fused, ctx.rows = fused, len(observation)
        ctx.number, outputs = fused.forward(observation)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[None, None, None]:
        ctx.fused.backward(ctx.number, ctx.rows, grads)
        return None, None, None
