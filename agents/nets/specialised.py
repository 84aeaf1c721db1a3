"""A network for all tables of a game, made into one for the tables of one setup.

At one setup most of what the common layout adds is constant: seats, rules, and nothing where seats are missing. The first
layers being linear, the constant bytes go into their biases and the columns of the missing seats fall away. What is left is a
network like any other, which takes the setup's own observations and says the same, so that whatever takes a trained network takes
one for all tables too, at the cost of a small one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nainjaune_env.core.spec import Setup

from .common_layout import CommonView
from .modules import PolicyValueNet
from .payoff_scale import random_spread


def specialised(net: PolicyValueNet, setup: Setup) -> PolicyValueNet:
    """What ``net``, on the common layout, is at tables with ``setup``: a network on that setup's own observations.

    Its values are in the unit of :func:`random_spread`. Raises ValueError where the network has no hidden layer, or is not on the
    common layout of the game.
    """
    view = CommonView(setup)
    if not net.hidden or net.zero.shape != (view.layout.size,):
        raise ValueError(
            f"a network for all tables takes {view.layout.size} bytes and has hidden layers; "
            f"this one takes {len(net.zero)} and has {len(net.hidden)}"
        )
    own, rest = torch.from_numpy(view.places), torch.from_numpy(view.rest)
    seen = net.scaled(rest[None])[0].double()
    seen[own] = 0.0  # where the setup's own bytes will stand
    private = torch.from_numpy(view.layout.private)
    kept = torch.isin(private, own[torch.from_numpy(setup.layout.private)]).nonzero().squeeze(1)
    recalled = len(seen) + kept
    remembered = torch.arange(len(seen) + len(private), len(seen) + len(private) + net.recurrent)

    weights = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    if net.recurrent:
        _fold(weights, "look.0", seen, own)
        _fold(weights, "body.0", seen, torch.cat([own, recalled, remembered]))
        for name in ("recall.weight", "recall.bias"):
            weights[name] = weights[name][kept]
    else:
        _fold(weights, "body.0", seen, own)
    weights["payoff_scale"] = torch.tensor(random_spread(setup))
    small = PolicyValueNet(setup.layout, net.policy.out_features, net.hidden, torch.Generator(), recurrent=net.recurrent)
    small.load_state_dict(weights)
    return small


def _fold(weights: dict[str, Tensor], layer: str, seen: Tensor, columns: Tensor) -> None:
    """Leave a linear ``layer`` the inputs ``columns (C,)``; ``seen (size,)`` are its first inputs, constant but for those."""
    weight, bias = weights[f"{layer}.weight"], weights[f"{layer}.bias"]
    weights[f"{layer}.bias"] = (bias.double() + weight[:, : len(seen)].double() @ seen).to(bias.dtype)
    weights[f"{layer}.weight"] = weight[:, columns]
