"""Optimizers as data, ``{name, **arguments}``: Adam, and Muon for the weights of hidden layers, each as torch's in less time.

An optimizer divides parameters into groups, each with a kind: what steps them. A new kind is a class in ``KINDS``, a new
optimizer a dataclass in ``OPTIMIZERS``.

Muon steps by the momentum of a weight matrix's gradient with all singular values set to about 1, so that directions that few
decisions depend on are learned as fast as the others. Its step is scaled to the size that Adam's has.

Sources: Kingma and Ba, "Adam: a method for stochastic optimization", 2015; Jordan et al., "Muon: an optimizer for hidden layers
in neural networks", 2024; Liu et al., "Muon is scalable for LLM training", 2025 (the scale).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from ..base.options import Arguments, Choice, option

Group = dict[str, Any]
"""A group of parameters: ``kind``, ``params``, and ``scale``, by which it multiplies the optimizer's learning rate."""


@dataclass(frozen=True)
class Adam(Arguments):
    """Adam for all parameters."""

    learning_rate: float = option(2e-3, "step size at the start", low=0, high=1)
    last_learning_rate: float = option(1e-4, "step size at the end; it changes by 'schedule'", low=0, high=1)
    warmup: int = option(
        0, "iterations (expert iteration: gradient steps) over which the step size rises linearly to its schedule", low=0
    )

    def groups(self, groups: Sequence[Group], hidden_layers: Sequence[nn.Module]) -> list[Group]:
        """Returns this optimizer's groups of the parameters in ``groups``, all of the kind ``adam``."""
        return [*groups]


@dataclass(frozen=True)
class Muon(Adam):
    """Muon for the two-dimensional parameters of hidden layers, and Adam for the others."""

    matrix_ratio: float = option(6.0, "step size of the matrices of hidden layers, by Muon, over that of the others", low=0)

    def groups(self, groups: Sequence[Group], hidden_layers: Sequence[nn.Module]) -> list[Group]:
        """Returns ``groups`` without the matrices of ``hidden_layers``, and these as a group of the kind ``muon``."""
        matrices = [weight for layers in hidden_layers for weight in layers.parameters() if weight.ndim == 2]
        taken = {id(matrix) for matrix in matrices}
        others = [{**group, "params": [p for p in group["params"] if id(p) not in taken]} for group in groups]
        return [*others, {"kind": "muon", "params": matrices, "scale": self.matrix_ratio}] if matrices else others


OPTIMIZERS: dict[str, type[Adam]] = {"adam": Adam, "muon": Muon}
OPTIMIZER = Choice("optimizer", lambda: OPTIMIZERS, OPTIMIZERS.__getitem__)
"""The choice among all optimizers."""


def adam_group(parameters: Sequence[Tensor], scale: float = 1.0) -> Group:
    """Returns a group of the kind ``adam``."""
    return {"kind": "adam", "params": list(parameters), "scale": scale}


class GroupedOptimizer:
    """Steps each group of parameters by its kind."""

    def __init__(
        self, optimizer: Mapping[str, Any], groups: Sequence[Group], hidden_layers: Sequence[nn.Module], **adam: Any
    ) -> None:
        """``optimizer``: as data; ``adam``: arguments of ``torch.optim.Adam``. Learning rates are set later."""
        divided = OPTIMIZER.build(optimizer).groups(groups, hidden_layers)
        kinds = {kind: [group for group in divided if group["kind"] == kind] for kind in KINDS}
        self.optimizers: dict[str, FastAdam | BatchedMuon] = {
            kind: KINDS[kind](members, **(adam if kind == "adam" else {})) for kind, members in kinds.items() if members
        }
        """By their kinds."""

    def named(self) -> dict[str, torch.optim.Optimizer]:
        """Returns the optimizers by the prefix of their tensors in checkpoints."""
        return {PREFIXES[kind]: optimizer for kind, optimizer in self.optimizers.items()}

    def set_learning_rate(self, learning_rate: float) -> None:
        """Sets the learning rate of each group, in proportion to its scale."""
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = group["scale"] * learning_rate

    def step(self) -> None:
        """Changes all parameters by their gradients."""
        for optimizer in self.optimizers.values():
            optimizer.fast_step()


class FastAdam(torch.optim.Adam):
    """Adam with a shorter step, for one group and ``fused=True``: the rest of torch's takes 2 % of PPO's time."""

    def __init__(self, groups: Sequence[Group], **settings: Any) -> None:
        super().__init__(groups, lr=0.0, **settings)

    @torch.no_grad()
    def fast_step(self) -> None:
        """Changes all parameters by their gradients, by the function that ``step`` calls too, without hooks and the profiler."""
        if not self.state or not self.defaults["fused"] or len(self.param_groups) > 1:
            self.step()  # the first one makes the state
            return
        (group,) = self.param_groups
        parameters, (beta1, beta2) = group["params"], group["betas"]
        states = [self.state[parameter] for parameter in parameters]
        mean, square, count = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step"))
        adam(
            parameters, [parameter.grad for parameter in parameters], mean, square, [], count,
            fused=True, amsgrad=False, beta1=beta1, beta2=beta2, lr=group["lr"], weight_decay=group["weight_decay"],
            eps=group["eps"], maximize=False,
        )  # fmt: skip


class BatchedMuon(torch.optim.Muon):
    """Muon without weight decay, scaled as Adam, that multiplies matrices of about equal size at once, in memory used again.

    Each is padded with zeros to whole multiples of 32 rows and columns, with which torch multiplies faster, too.
    """

    def __init__(self, groups: Sequence[Group]) -> None:
        """``groups``: one, of matrices."""
        super().__init__(groups, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        (group,) = groups
        self._batches: dict[tuple[int, int], list[Tensor]] = {}
        for matrix in group["params"]:
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
    def fast_step(self) -> None:
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
                step = x[number][part]
                rate = group["lr"] * (0.2 * math.sqrt(max(matrix.shape)))
                matrix.add_(step.T if matrix.shape[0] > matrix.shape[1] else step, alpha=-rate)

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


KINDS: dict[str, Any] = {"adam": FastAdam, "muon": BatchedMuon}
PREFIXES = {"adam": "optimizer.", "muon": "muon."}
"""Of the tensors of each kind in checkpoints."""
