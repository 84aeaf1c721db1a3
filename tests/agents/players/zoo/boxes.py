"""Boxes of small players, for the tests of whatever takes players from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nainjaune_agents.players.networks.checkpoint import save_checkpoint
from nainjaune_agents.players.networks.common_layout import common_layout
from nainjaune_agents.players.zoo import HouseRules, ModelCard, Rating, save_card
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.spec import Setup
from tests.agents.players.networks.test_checkpoint import make
from tests.support.networks import mlp

RATING = Rating(field="lowest", preset="classic", players=3, knobs={"max_rounds": 2}, mean=0.5, ci95=0.1, deals=50, seed=9)
HOUSE_RULES = [HouseRules("djeco", [2, 3, 4], {}), HouseRules("classic", [3, 4], {"stake": [1, 5], "decline": ["entry"]})]
"""Of a network for all tables."""


def put(box: Path, name: str, setup: Setup, stem: str, *, anywhere: bool = False, fallback: bool = False) -> Path:
    """A player ``name`` in the folder ``box`` for tables with ``setup``, or for any; gives the path of its file."""
    path = box / name / f"{stem}.safetensors"
    save_checkpoint(path, make_common(setup) if anywhere else make(setup))
    values: dict[str, Any] = {
        "game": setup.game.name,
        "preset": None if anywhere else setup.preset,
        "players": None if anywhere else setup.players,
        "knobs": {} if anywhere else setup.knobs,
        "house_rules": HOUSE_RULES if anywhere else [],
    }
    card = ModelCard(
        **values, sha256=digest(path), note="A small one.", algorithm="ppo", made_by=["python train.py --out runs/x"],
        commit="abc", seconds=90.0, decisions=2e6, machine="Linux", ratings=[RATING], fallback=fallback,
    )  # fmt: skip
    save_card(path.with_suffix(".json"), card)
    return path


def make_common(setup: Setup) -> Any:
    """The checkpoint of a small net for all tables of a game."""
    layout = common_layout(setup.game)
    net = mlp(setup, [6], layout=layout)
    tensors = {f"model.{key}": tensor.numpy() for key, tensor in net.state_dict().items()}
    return make(setup, common=True, layout=layout.fingerprint, tensors=tensors)
