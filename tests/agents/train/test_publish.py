"""Putting a run's network into the box: the same player, without the optimizer, with what made it and what it is worth."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.mixed import explicit_name
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.players.zoo import PlayerRegistry, load_card, save_card
from nainjaune_agents.train.publish import origin, publish, rate
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.agents.train.test_ppo import run_in, tiny
from tests.support.edges import edge_of

SHELVED = {"against": ["lowest", "random"], "deals": 40, "seed": 3, "note": "Tiny.", "local_changes": True}
Train = Callable[..., Setup]


def noted(run: Path, **values: object) -> None:
    """Puts ``values`` into what ``run`` records of how it was made."""
    about = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**about, **values}), encoding="utf-8")


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations, as the command ``nainjaune train`` leaves one; tests change copies of it."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    run_in(folder, tiny(iterations=2))
    return folder


@pytest.fixture
def trained(tiny_run: Path) -> Train:
    """Puts that run into a folder, or one with ``other`` keys; returns its setup."""

    def put(folder: Path, **other: object) -> Setup:
        if other:
            run_in(folder, tiny(iterations=2, **other))
        else:
            shutil.copytree(tiny_run, folder)
        return tiny(iterations=2, **other).setup()

    return put


def test_the_same_player_lighter_and_rated_at_every_task(trained: Train, tmp_path: Path) -> None:
    """Each rating is the edge that ``evaluate`` measures at its start."""
    run, box, heavy, reported = tmp_path / "run", PlayerRegistry(tmp_path / "box"), Task(start={"pots": [20, 20]}), list[int]()
    setup = trained(run)
    path = publish(
        [run], "tiny", [setup], registry=box, tasks=[Task(), heavy], progress=reported.append, **SHELVED | {"deals": 300}
    )
    before, after = load_checkpoint(run), load_checkpoint(path)
    assert path.stat().st_size < 0.5 * (run / FILE_NAME).stat().st_size
    assert after.tensors.keys() == {name for name in before.tensors if name.startswith("model.")}
    for name, tensor in after.tensors.items():
        stored = before.tensors[name].astype(np.float16) if tensor.ndim > 1 else before.tensors[name]
        assert tensor.dtype == before.tensors[name].dtype
        assert np.array_equal(tensor, stored.astype(tensor.dtype))
    card = load_card(path.with_suffix(".json"))
    assert (card.game, card.preset, card.players, card.knobs) == (setup.game.name, setup.preset, setup.players, setup.knobs)
    assert [(rating.field, rating.task) for rating in card.ratings] == [
        (field, task) for task in (Task(), heavy) for field in ("lowest", "random")
    ]
    agents = [load_agent(str(path), setup), load_agent("lowest", setup)]
    for rating in card.ratings[::2]:
        edge = edge_of(setup, agents, 300, seed=3, task=rating.task)
        assert (rating.mean, rating.ci95) == (round(edge.mean, 4), round(edge.ci95, 4))
    assert sum(reported) == 2400
    assert box.find("zoo:tiny", setup).path == path


def test_a_card_names_the_pool_of_a_mixed_field(trained: Train, tmp_path: Path) -> None:
    run, box = tmp_path / "run", PlayerRegistry(tmp_path / "box")
    setup = trained(run)
    path = publish([run], "tiny", [setup], registry=box, **{**SHELVED, "against": ["mixed", "lowest"]})
    (mixed, _) = load_card(path.with_suffix(".json")).ratings
    assert mixed.field == explicit_name("mixed", setup)
    edge = edge_of(setup, [load_agent(str(path), setup), load_agent(mixed.field, setup)], SHELVED["deals"], seed=3)
    assert (mixed.mean, mixed.ci95) == (round(edge.mean, 4), round(edge.ci95, 4))


def test_a_player_is_rated_again_at_the_tables_of_its_ratings(trained: Train, tmp_path: Path) -> None:
    run, box, reported = tmp_path / "run", PlayerRegistry(tmp_path / "box"), list[int]()
    setup = trained(run)
    publish([run], "tiny", [setup], registry=box, **SHELVED)
    (player,) = box.players("tiny")
    card = rate(player, against=["tally", "lowest"], deals=60, seed=4, progress=reported.append)
    assert [(rating.field, rating.deals) for rating in card.ratings] == [("random", 40), ("tally", 60), ("lowest", 60)]
    edge = edge_of(setup, [load_agent(str(player.path), setup), load_agent("tally", setup)], 60, seed=4)
    assert (card.ratings[1].mean, card.ratings[1].ci95) == (round(edge.mean, 4), round(edge.ci95, 4))
    assert sum(reported) == 240
    with pytest.raises(AgentError, match="'nobody'"):
        rate(player, against=["tally", "nobody"], deals=60, seed=4, progress=reported.append)
    assert sum(reported) == 240
    player.path.write_bytes(b"")
    with pytest.raises(CheckpointError, match="does not match the hash on its card"):
        rate(player, against=["tally"], deals=60, seed=4)


def test_how_it_was_made_goes_back_to_what_it_began_from(trained: Train, tmp_path: Path) -> None:
    trained(tmp_path / "first")
    trained(tmp_path / "second", init=str(tmp_path / "first"))
    one, both = origin(tmp_path / "first"), origin(tmp_path / "second")
    assert len(one.commands) == 1
    assert both.commands[:1] == one.commands
    assert len(both.commands) == 2
    assert both.decisions > one.decisions > 0
    assert both.seconds > one.seconds > 0


@pytest.mark.parametrize("rules", [{}, {"ranks": 5, "hand": 4}], ids=["its rules", "rules it does not play under"])
def test_a_run_that_began_from_a_zoo_player(tmp_path: Path, rules: dict[str, int]) -> None:
    """Its commands begin there; time and decisions include those on the player's card."""
    table = {"preset": "djeco", "players": 4, "rules": rules}
    run_in(tmp_path / "run", tiny(iterations=2, **table, arch={"hidden": [512] * 3}, objective="own", init="zoo:strong"))
    command = ["train.py", "c.yaml", "--out", "runs/run", "--set", "init=zoo:strong"]
    noted(tmp_path / "run", commit="0123456789ab", command=command)
    made = origin(tmp_path / "run")
    card = PlayerRegistry().find("zoo:strong", get_game("nain_jaune").setup("djeco", 4, **rules), any_rules=True).card
    assert made.commands == ["python train.py c.yaml --out runs/run --set init=zoo:strong"]
    assert made.commit == "0123456789ab"
    assert made.seconds > card.seconds
    assert made.decisions > card.decisions


def test_a_mixture_that_began_from_a_zoo_player(tmp_path: Path) -> None:
    """It begins from the player's network for all tables, also where the player has one for the table that is the default."""
    player = PlayerRegistry().find("zoo:strong", get_game("nain_jaune").setup("djeco", 4), anywhere=True)
    mixture = [{"preset": "djeco", "players": 4}]
    arch = load_checkpoint(player.path).arch
    run_in(tmp_path / "run", tiny(iterations=2, mixture=mixture, arch=arch, objective="own", init="zoo:strong"))
    assert origin(tmp_path / "run").decisions > player.card.decisions


def test_a_run_that_began_from_a_file_needs_the_card_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "player.safetensors"
    player = PlayerRegistry().find("zoo:strong", get_game("nain_jaune").setup("djeco", 4))
    shutil.copyfile(player.path, path)
    arch = load_checkpoint(path).arch
    run_in(tmp_path / "run", tiny(iterations=2, preset="djeco", players=4, arch=arch, objective="own", init=str(path)))
    noted(tmp_path / "run", command=["train.py", "c.yaml", "--out", "runs/run"])
    with pytest.raises(CheckpointError, match=r"has no model card of it beside it\. .*\(init=zoo:NAME\)"):
        origin(tmp_path / "run")
    save_card(path.with_suffix(".json"), player.card)
    made = origin(tmp_path / "run")
    assert made.commands == [*player.card.made_by, "python train.py c.yaml --out runs/run"]
    assert made.decisions > player.card.decisions == made.first.decisions
    save_card(path.with_suffix(".json"), replace(player.card, sha256="0" * 64))
    with pytest.raises(CheckpointError, match="has no model card of it"):
        origin(tmp_path / "run")


def test_commands_say_no_place_on_this_machine(trained: Train, tmp_path: Path) -> None:
    for run, init in (("first", {}), ("second", {"init": str(tmp_path / "first")})):
        trained(tmp_path / run, **init)
        words = [f"init={init['init']}"] if init else []
        noted(tmp_path / run, command=["train.py", "c.yaml", "--out", "/where/it/was/then", "--set", "seed=1", *words])
    assert origin(tmp_path / "second").commands == [
        "python train.py c.yaml --out runs/first --set seed=1",
        "python train.py c.yaml --out runs/second --set seed=1 init=runs/first",
    ]


def test_a_run_of_another_length_has_a_command_for_each_part(trained: Train, tmp_path: Path) -> None:
    """The first part ran to its end, the second was stopped on the way."""
    trained(tmp_path / "run")
    changed = [
        {"iteration": 2, "commit": "0123456789ab", "keys": {"iterations": [2, 9], "keep_best": [False, True]}},
        {"iteration": 5, "commit": "ffffffffffff+", "keys": {"iterations": [9, 6]}},
    ]
    command = ["train.py", "c.yaml", "--out", "runs/run"]
    noted(tmp_path / "run", commit="0123456789ab", command=command, changed=changed)
    made = origin(tmp_path / "run")
    assert made.commands == [
        "python train.py c.yaml --out runs/run",
        "python train.py --resume --out runs/run --set iterations=9 --set keep_best=true  # stopped after iteration 5",
        "python train.py --resume --out runs/run --set iterations=6",
    ]
    assert made.commit == "0123456789ab+"


def test_a_run_with_local_changes_is_refused_or_marked(trained: Train, tmp_path: Path) -> None:
    """Also where only the run that it began from had some."""
    setup, box = trained(tmp_path / "first"), PlayerRegistry(tmp_path / "box")
    trained(tmp_path / "second", init=str(tmp_path / "first"))
    noted(tmp_path / "first", commit="0123456789ab+")
    noted(tmp_path / "second", commit="ba9876543210")
    for run, commit in (("first", "0123456789ab"), ("second", "ba9876543210")):
        with pytest.raises(ConfigError, match=rf"made at commit {commit} with local changes"):
            publish([tmp_path / run], "x", [setup], registry=box, **{**SHELVED, "local_changes": False})
    assert not (tmp_path / "box").exists()
    path = publish([tmp_path / "second"], "x", [setup], registry=box, **SHELVED)
    card = load_card(path.with_suffix(".json"))
    assert (card.commit, card.made_at) == ("ba9876543210+", "at commit ba9876543210 with local changes")
    noted(tmp_path / "first", commit="0123456789ab")
    path = publish([tmp_path / "second"], "y", [setup], registry=box, **{**SHELVED, "local_changes": False})
    assert load_card(path.with_suffix(".json")).made_at == "at commit ba9876543210"


def test_a_run_that_is_not_finished_is_refused(trained: Train, tmp_path: Path) -> None:
    """The command on its card would make another network."""
    run = tmp_path / "run"
    setup = trained(run)
    checkpoint = load_checkpoint(run)
    checkpoint.config["iterations"] = 100
    save_checkpoint(run / FILE_NAME, checkpoint)
    with pytest.raises(CheckpointError, match=r"has done 2 of 100 iterations.* --resume --set iterations=2\.$"):
        publish([run], "tiny", [setup], registry=PlayerRegistry(tmp_path / "box"), **SHELVED)
    assert not (tmp_path / "box").exists()


def test_what_is_refused(trained: Train, tmp_path: Path) -> None:
    run = tmp_path / "run"
    setup = trained(run)
    box = PlayerRegistry(tmp_path / "box")
    publish([run], "tiny", [setup], registry=box, **SHELVED)
    with pytest.raises(ConfigError, match="exists, and is not overwritten"):
        publish([run], "tiny", [setup], registry=box, **SHELVED)
    with pytest.raises(ConfigError, match=r"different agents to rate it against, not \['lowest', 'lowest'\]"):
        publish([run], "other", [setup], registry=box, **{**SHELVED, "against": ["lowest", "lowest"]})
    (tmp_path / "file").touch()
    reported: list[int] = []
    with pytest.raises(OSError, match="Not a directory"):
        publish([run], "tiny", [setup], registry=PlayerRegistry(tmp_path / "file"), progress=reported.append, **SHELVED)
    assert not reported  # nothing was played first
    about = run / "run.json"
    for content in ({"command": []}, {"command": ["train.py"]}, [], None):
        about.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(CheckpointError, match=r"has no record of how it was made.*[^.]\.$"):
            origin(run)
    about.write_text("{", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"run\.json' is not a record of how a run was made"):
        origin(run)


def test_several_runs_from_one_network_are_added_as_their_mean(trained: Train, tmp_path: Path) -> None:
    first, box = tmp_path / "first", PlayerRegistry(tmp_path / "box")
    setup = trained(first)
    runs = [tmp_path / name for name in ("one", "two")]
    for seed, run in enumerate(runs):
        trained(run, init=str(first), seed=seed + 5)
    for run in (first, *runs):
        noted(run, commit="0123456789ab", command=["train.py", "c.yaml", "--out", str(run)])
    path = publish(runs, "mean", [setup], registry=box, **SHELVED)
    checkpoints = [load_checkpoint(run) for run in (*runs, path)]
    one, two, mean = (checkpoint.tensors["model.policy.bias"] for checkpoint in checkpoints)
    assert not np.array_equal(one, two)
    assert np.allclose(mean, (one + two) / 2, atol=1e-6)
    assert all(name.startswith("model.") for name in checkpoints[-1].tensors)
    card = load_card(path.with_suffix(".json"))
    assert card.made_by == [
        *(f"python train.py c.yaml --out runs/{name}" for name in ("first", "one", "two")),
        "# the mean of the weights of runs/one, runs/two",
    ]
    began = origin(first).decisions
    assert card.decisions == began + sum(origin(run).decisions - began for run in runs)


def test_runs_without_a_common_beginning_have_no_mean(trained: Train, tmp_path: Path) -> None:
    one, two, box = tmp_path / "one", tmp_path / "two", PlayerRegistry(tmp_path / "box")
    setup = trained(one)
    trained(two, seed=9)
    with pytest.raises(
        ConfigError, match=r"^Runs whose mean is added began from the same network \(init\), not from .*one' and, "
    ):
        publish([one, two], "mean", [setup], registry=box, **SHELVED)
    assert not (tmp_path / "box").exists()
