"""The policy of a trained network, made to be asked as often as rollouts ask it.

What a rollout needs is logits, of tens to thousands of observations at a time, thousands of times: no value, no state. So the
bytes go into the first layer as they are, whose weights take in how they are scaled, and where the processor multiplies bfloat16
in hardware (AVX-512 BF16, AMX) weights and features are in that: about four times as fast. Bytes are exact in it, and logits
are off by less than a hundredth of their spread, so that now and then the second likeliest of two near equals is played.

On one machine the same observations in the same calls give the same bits. Another processor, or another release of torch, may
add in another order, and one without fast bfloat16 keeps to float32; then near equals may fall out otherwise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .modules import PolicyValueNet, into

SIZES = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""How many observations go through all layers at once: the next of these, the rest being whatever was there before.

torch makes a kernel for each size that it meets with bfloat16, which takes longer than to use it (with float32 it does not, and
just as many go through); and of more than the largest the features leave the processor's cache.
"""


def fast_dtype() -> torch.dtype:
    """``torch.bfloat16`` where the processor is known to multiply it in hardware, else ``torch.float32``.

    Asked of ``torch.cpu.get_capabilities``, which older releases of torch do not have; these keep to float32.
    """
    ask: Callable[[], Mapping[str, Any]] = getattr(torch.cpu, "get_capabilities", dict)
    able = ask()
    return torch.bfloat16 if able.get("amx_bf16") or able.get("avx512_bf16") else torch.float32


def padded(rows: int, dtype: torch.dtype) -> int:
    """As how many rows so many are multiplied, see :data:`SIZES`; of more than these, whole thousands."""
    if dtype is not torch.bfloat16:
        return rows
    return SIZES[bisect_left(SIZES, rows)] if rows <= SIZES[-1] else -(-rows // 1024) * 1024


class QuickNet:
    """The logits of a network that remembers nothing, and its values."""

    def __init__(self, net: PolicyValueNet, dtype: torch.dtype | None = None, *, value: bool = False) -> None:
        """``net`` is copied as it is now, to the CPU and ``dtype`` (None: :func:`fast_dtype`), with the ``value`` or without.

        Raises ValueError where it remembers.
        """
        if net.recurrent:
            raise ValueError(f"a network with {net.recurrent} units that remember is more than its layers")
        self.dtype = dtype or fast_dtype()
        self._value = value
        self.take_over(net)
        widths = [len(net.zero), *(len(bias) for _, bias in self._layers)]
        self._rooms = [torch.zeros((SIZES[-1], width), dtype=self.dtype) for width in widths]

    def take_over(self, net: PolicyValueNet) -> None:
        """Be ``net``, the one it was made of or one like it, as it is now."""
        linear = [layer for layer in [*net.body, net.policy] if isinstance(layer, nn.Linear)]
        weights = [layer.weight.detach().cpu().double() for layer in linear]
        biases = [layer.bias.detach().cpu().double() for layer in linear]
        if self._value:
            weights[-1] = torch.cat([weights[-1], net.value.weight.detach().cpu().double()])
            biases[-1] = torch.cat([biases[-1], net.value.bias.detach().cpu().double()])
        weights[0] = weights[0] * net.factor.cpu()
        biases[0] = biases[0] - weights[0] @ net.zero.cpu().double()
        self._layers = [(w.to(self.dtype), b.to(self.dtype)) for w, b in zip(weights, biases, strict=True)]

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Logits ``(K, A)``, not masked, of ``observation (K, size)``; with the ``value`` that in one more column."""
        most = SIZES[-1]
        logits = np.empty((len(observation), self._rooms[-1].shape[1]), np.float32)
        with torch.inference_mode():
            told = torch.from_numpy(logits)
            for at in range(0, len(observation), most):
                told[at : at + most] = self._forward(observation[at : at + most])
        return logits

    def _forward(self, observation: NDArray[np.uint8]) -> Tensor:
        rows = len(observation)
        self._rooms[0][:rows] = torch.from_numpy(observation)
        size = padded(rows, self.dtype)
        return into(self._layers, [room[:size] for room in self._rooms])[:rows]
