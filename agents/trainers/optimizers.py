"""The optimizers of a network: Adam, and Muon for the weights of its hidden layers, each as torch's in less time.

Muon steps by the momentum of a weight matrix's gradient with all singular values set to about 1, so that directions that few
decisions depend on are learned as fast as the others. Its step is scaled to the size that Adam's has.

Sources: Kingma and Ba, "Adam: a method for stochastic optimization", 2015; Jordan et al., "Muon: an optimizer for hidden layers
in neural networks", 2024; Liu et al., "Muon is scalable for LLM training", 2025 (the scale).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim.adam import adam


class AdamAndMuon:
    """Adam for all parameters; or Muon for the two-dimensional ones of hidden layers, and Adam for the others."""

    def __init__(self, parameters: Sequence[Tensor], hidden_layers: Sequence[nn.Module], *, muon: float) -> None:
        """``muon`` is the learning rate of Muon over that of Adam; 0 = no Muon. Learning rates are set later."""
        matrices = [weight for layers in hidden_layers for weight in layers.parameters() if weight.ndim == 2] if muon else []
        taken = {id(matrix) for matrix in matrices}
        self.adam = torch.optim.Adam([p for p in parameters if id(p) not in taken], lr=0.0, eps=1e-5, fused=True)
        self.muon = BatchedMuon(matrices) if matrices else None
        self._ratio = muon

    def named(self) -> dict[str, torch.optim.Optimizer]:
        """Returns the optimizers by the prefix of their tensors in checkpoints."""
        return {"optimizer.": self.adam} | ({"muon.": self.muon} if self.muon else {})

    def set_learning_rate(self, learning_rate: float) -> None:
        """Sets that of Adam, and that of Muon in proportion."""
        for optimizer, rate in ((self.adam, learning_rate), (self.muon, self._ratio * learning_rate)):
            for group in optimizer.param_groups if optimizer else ():
                group["lr"] = rate

    def step(self) -> None:
        """Changes all parameters by their gradients."""
        adam_step(self.adam)
        if self.muon:
            self.muon.batched_step()


class BatchedMuon(torch.optim.Muon):
    """Muon without weight decay, scaled as Adam, that multiplies matrices of about equal size at once, in memory used again.

    Each is padded with zeros to whole multiples of 32 rows and columns, with which torch multiplies faster, too.
    """

    def __init__(self, matrices: Sequence[Tensor]) -> None:
        super().__init__(matrices, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        self._batches: dict[tuple[int, int], list[Tensor]] = {}
        for matrix in matrices:
            rows, columns = (-(-size // 32) * 32 for size in sorted(matrix.shape))
            self._batches.setdefault((rows, columns), []).append(matrix)
        self._buffers = {
            shape: [
                torch.zeros((len(batch), *size), dtype=torch.bfloat16, device=batch[0].device)
                for size in (shape, shape, (shape[0], shape[0]), (shape[0], shape[0]))
            ]
            for shape, batch in self._batches.items()
        }
        """The matrices and their successors, and their Gram matrices and polynomials of these."""

    @torch.no_grad()
    def batched_step(self) -> None:
        """Changes all matrices by their gradients, as ``step`` does."""
        (group,) = self.param_groups
        a, b, c = group["ns_coefficients"]
        for shape, matrices in self._batches.items():
            x, following, gram, polynomial = self._buffers[shape]
            parts = [self._put_update(matrix, x[number]) for number, matrix in enumerate(matrices)]
            for _ in range(group["ns_steps"]):  # Newton and Schulz's iteration towards singular values of 1
                torch.bmm(x, x.mT, out=gram)
                torch.baddbmm(gram, gram, gram, beta=b, alpha=c, out=polynomial)
                torch.baddbmm(x, polynomial, x, beta=a, out=following)
                x, following = following, x
            for number, (matrix, part) in enumerate(zip(matrices, parts, strict=True)):
                found = x[number][part]
                rate = group["lr"] * (0.2 * math.sqrt(max(matrix.shape)))
                matrix.add_(found.T if matrix.shape[0] > matrix.shape[1] else found, alpha=-rate)

    def _put_update(self, matrix: Tensor, out: Tensor) -> tuple[slice, ...]:
        """Writes the momentum of the gradient with a norm of 1, transposed if tall, to the part of ``out`` that it returns."""
        (group,) = self.param_groups
        state, gradient = self.state[matrix], matrix.grad
        assert gradient is not None
        if not state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        momentum = state["momentum_buffer"].lerp_(gradient, 1 - group["momentum"])
        update = gradient.lerp(momentum, group["momentum"]).bfloat16()
        wide = update.T if update.shape[0] > update.shape[1] else update
        part = tuple(slice(size) for size in wide.shape)
        torch.div(wide, wide.norm().clamp(min=group["eps"]), out=out[part])
        return part


@torch.no_grad()
def adam_step(optimizer: torch.optim.Adam) -> None:
    """Takes a step of an ``optimizer`` made with ``fused=True`` and one group of parameters, the same as its ``step``.

    It calls the function that ``step`` calls; the rest of ``step``, for hooks and the profiler, takes 2 % of PPO's time.
    """
    if not optimizer.state:
        optimizer.step()  # makes the state
        return
    (group,) = optimizer.param_groups
    parameters, (beta1, beta2) = group["params"], group["betas"]
    states = [optimizer.state[parameter] for parameter in parameters]
    mean, square, count = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step"))
    adam(
        parameters, [parameter.grad for parameter in parameters], mean, square, [], count,
        fused=True, amsgrad=False, beta1=beta1, beta2=beta2, lr=group["lr"], weight_decay=group["weight_decay"],
        eps=group["eps"], maximize=False,
    )  # fmt: skip
