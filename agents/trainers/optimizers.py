"""The optimizers of a network: Adam, and Muon for the weights of its hidden layers.

Muon steps by the momentum of a weight matrix's gradient with all singular values set to about 1, so that directions that few
decisions depend on are learned as fast as the others. Its step is scaled to the size that Adam's has.

Sources: Kingma and Ba, "Adam: a method for stochastic optimization", 2015; Jordan et al., "Muon: an optimizer for hidden layers
in neural networks", 2024; Liu et al., "Muon is scalable for LLM training", 2025 (the scale).
"""

from __future__ import annotations

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
        self.muon = torch.optim.Muon(matrices, weight_decay=0.0, adjust_lr_fn="match_rms_adamw") if matrices else None
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
            self.muon.step()  # type: ignore[no-untyped-call]


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
