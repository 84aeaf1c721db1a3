"""A network for all tables of a game, specialised to the tables of one setup.

At one setup most of what the common layout adds is constant: seats, rules, and zeros where seats are missing. Constant bytes
move into the biases of the first layers, and the columns of missing seats fall away. The result is an ordinary network on the
setup's own observations with the same outputs, at the cost of a small one.
"""

from __future__ import annotations

import torch

from nainjaune_env.core.spec import Setup

from .common_layout import CommonView
from .payoff_scale import random_payoff_scale
from .policy_value import PolicyValueNet


def specialised(net: PolicyValueNet, setup: Setup) -> PolicyValueNet:
    """Returns ``net``, which takes the common layout of a game, for the observations of ``setup``.

    Its values are in units of :func:`random_payoff_scale`. Raises ValueError where the network has no hidden layer, or is not on
    the common layout of the game.
    """
    view = CommonView(setup)
    if not net.hidden or net.zero.shape != (view.layout.size,):
        raise ValueError(
            f"a network for all tables takes {view.layout.size} bytes and has hidden layers; "
            f"this one takes {len(net.zero)} and has {len(net.hidden)}"
        )
    own = torch.from_numpy(view.places)
    constant = net.scaled(torch.from_numpy(view.rest)[None])[0].double()
    constant[own] = 0.0
    small = net.fold(setup.layout, own, constant)
    small.payoff_scale.fill_(random_payoff_scale(setup))
    return small
