"""Untrained networks for tests."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nainjaune_agents.players.networks.arch import make_net
from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup


def mlp(setup: Setup, hidden: Sequence[int] = (8,), *, recurrent: int = 0, seed: int = 3, layout: Layout | None = None) -> MLP:
    """Returns an untrained ``mlp`` for ``setup``, by default on its own layout."""
    arch = {"name": "mlp", "hidden": [*hidden], "recurrent": recurrent}
    net = make_net(arch, layout or setup.layout, len(setup.game.actions), torch.Generator().manual_seed(seed))
    assert isinstance(net, MLP)
    return net
