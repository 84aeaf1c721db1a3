"""A network for all tables is, at one, the same network; and as a checkpoint it sits down at any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.loading import load_agent, setup_of_runs
from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, Checkpoint, save_checkpoint
from nainjaune_agents.players.networks.common_layout import CommonView, common_layout, random_payoff_scale
from nainjaune_agents.players.networks.torch_nets import specialised
from nainjaune_env.core.errors import AgentError, CheckpointError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import get_game, make_setup
from tests.agents.players.networks import test_checkpoint
from tests.support.contract import all_setups
from tests.support.networks import mlp
from tests.support.positions import small, stirred


def common_net(game: GameSpec, recurrent: int = 0, hidden: tuple[int, ...] = (16, 8)) -> MLP:
    """A net on the common layout to which everything matters."""
    return stirred(mlp(game.setup(), hidden, recurrent=recurrent, layout=common_layout(game)))


def saved(path: Path, net: MLP, setup: Setup, **other: Any) -> None:
    """``net`` as the checkpoint of a run that is for all tables, at ``setup`` where nothing else is said."""
    checkpoint = Checkpoint(
        **setup.to_dict(),
        algorithm="ppo",
        layout=common_layout(setup.game).fingerprint,
        actions=len(setup.game.actions),
        arch=net.arch,
        common=True,
        iteration=1,
        config={},
        tensors={f"model.{name}": tensor.numpy() for name, tensor in net.state_dict().items()},
    )
    for key, value in other.items():
        setattr(checkpoint, key, value)
    save_checkpoint(path / FILE_NAME, checkpoint)


@pytest.mark.parametrize("recurrent", [0, 5])
@pytest.mark.parametrize("setup", all_setups())
def test_at_one_table_it_is_the_same_network(setup: Setup, recurrent: int) -> None:
    """Logits, values and what it remembers, along a few decisions."""
    whole = common_net(setup.game, recurrent)
    own, view = specialised(whole, setup), CommonView(setup)
    batch, chance = Batch(setup, 30, seed=3), streams(3, 30, stream=1)
    one, two = (np.zeros((30, recurrent), np.float32) for _ in range(2))
    for _ in range(4):
        expected = whole.evaluate(view(batch.observation), one)
        output = own.evaluate(batch.observation, two)
        for a, b in zip((*expected, one), (*output, two), strict=True):
            assert b == pytest.approx(a, rel=1e-4, abs=1e-3)
        batch.step(batch.sample(chance))
    assert np.ptp(expected[0]) > (1 if setup.layout.size > 10 else 0.5)  # a few bytes move the logits less
    assert float(own.payoff_scale) == pytest.approx(random_payoff_scale(setup))


def test_a_network_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="a network for all tables takes 322 bytes, and this one takes"):
        specialised(common_net(get_game("batasaurus")), make_setup("nain_jaune"))


def test_it_is_refused_by_another_game_and_another_layout(tmp_path: Path) -> None:
    net, setup = common_net(get_game("nain_jaune")), make_setup("nain_jaune")
    saved(tmp_path, net, setup)
    with pytest.raises(CheckpointError, match="plays 'nain_jaune', and this table is for 'batasaurus'"):
        load_agent(str(tmp_path), make_setup("batasaurus"))
    saved(tmp_path, net, setup, layout=setup.layout.fingerprint)  # a head that lies
    with pytest.raises(CheckpointError, match="was trained on another observation layout"):
        load_agent(str(tmp_path), setup)
    saved(tmp_path, net, setup, arch={"name": "mlp", "hidden": []})
    with pytest.raises(CheckpointError, match=r"The tensors of .* are not those of its network"):
        load_agent(str(tmp_path), setup)
    saved(tmp_path, net, setup, common=False)
    with pytest.raises(CheckpointError, match="was trained on another observation layout"):
        load_agent(str(tmp_path), setup)


def test_it_has_no_say_about_where_beside_one_that_is_for_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    everywhere, other = make_setup("nain_jaune", "skip", 6), make_setup("nain_jaune", "skip", 7)
    for name, setup in (("everything", everywhere), ("all", other)):
        saved(Path(name), common_net(setup.game), setup)
    save_checkpoint(Path("own") / FILE_NAME, test_checkpoint.make(small()))
    assert setup_of_runs(["everything", "own", "tally", "all"], "nain_jaune") == small()
    assert setup_of_runs(["everything", "tally"], "nain_jaune") == everywhere
    with pytest.raises(AgentError, match="were trained under different rules"):
        setup_of_runs(["everything", "all"], "nain_jaune")
