"""Optimizers as data, ``{name, **arguments}``: torch's Adam, and its Muon for the weights of hidden layers.

A new optimizer is a class in ``Optimizer``.

Muon steps by the momentum of a weight matrix's gradient with all singular values set to about 1, so that directions that few
decisions depend on are learned as fast as the others. Its step is scaled to the size that Adam's has.

Sources: Kingma and Ba, "Adam: a method for stochastic optimization", 2015; Jordan et al., "Muon: an optimizer for hidden layers
in neural networks", 2024; Liu et al., "Muon is scalable for LLM training", 2025 (the scale).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import torch
from torch import nn

from ..base.settings import NonNegativeFloat, NonNegativeInt, Settings, Share

Group = dict[str, Any]
"""A group of parameters: ``params``, and ``scale`` (none: 1), by which it multiplies the optimizer's learning rate."""


class Adam(Settings, frozen=True, tag_field="name", tag="adam"):
    """Adam for all parameters."""

    learning_rate: Annotated[Share, "step size at the start"] = 2e-3
    last_learning_rate: Annotated[Share, "step size at the end; it changes by 'schedule'"] = 1e-4
    warmup: Annotated[
        NonNegativeInt,
        "iterations (expert iteration: gradient steps) over which the step size rises linearly to its schedule",
    ] = 0

    def build(self, groups: Sequence[Group], hidden_layers: Sequence[nn.Module], **adam: Any) -> dict[str, torch.optim.Optimizer]:
        """Returns the optimizers of ``groups``, which have all parameters, by the prefix of their tensors in checkpoints.

        ``adam``: arguments of ``torch.optim.Adam``.
        """
        return {"optimizer.": torch.optim.Adam(groups, lr=0.0, **adam)}


class Muon(Adam, frozen=True, tag="muon"):
    """Muon for the two-dimensional parameters of hidden layers, and Adam for the others."""

    matrix_ratio: Annotated[NonNegativeFloat, "step size of the matrices of hidden layers, by Muon, over that of the others"] = (
        6.0
    )

    def build(self, groups: Sequence[Group], hidden_layers: Sequence[nn.Module], **adam: Any) -> dict[str, torch.optim.Optimizer]:
        """Returns Adam for ``groups`` without the matrices of ``hidden_layers``, and Muon for these; see :meth:`Adam.build`."""
        matrices = [weight for layers in hidden_layers for weight in layers.parameters() if weight.ndim == 2]
        taken = {id(matrix) for matrix in matrices}
        others = [{**group, "params": [p for p in group["params"] if id(p) not in taken]} for group in groups]
        hidden = {"params": matrices, "scale": self.matrix_ratio}
        muon = torch.optim.Muon([hidden], lr=0.0, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        return {**super().build(others, hidden_layers, **adam), "muon.": muon}


Optimizer = Adam | Muon


class GroupedOptimizer:
    """The optimizers of all parameters, stepped together at learning rates in proportion to the scales of their groups."""

    def __init__(self, optimizer: Adam, groups: Sequence[Group], hidden_layers: Sequence[nn.Module], **adam: Any) -> None:
        """Arguments as of :meth:`Adam.build`. Learning rates are set later."""
        self.by_prefix = optimizer.build(groups, hidden_layers, **adam)
        """By the prefix of their tensors in checkpoints."""

    def set_learning_rate(self, learning_rate: float) -> None:
        """Sets the learning rate of each group, in proportion to its scale."""
        for optimizer in self.by_prefix.values():
            for group in optimizer.param_groups:
                group["lr"] = group.get("scale", 1.0) * learning_rate

    def step(self) -> None:
        """Changes all parameters by their gradients."""
        for optimizer in self.by_prefix.values():
            optimizer.step()
