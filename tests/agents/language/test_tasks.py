"""Tasks are the same at each call, and splits share neither deals nor rules with random knobs."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import CHIPS, TextEnvSettings
from nainjaune_agents.language.tasks import HELD_OUT, SPLITS, TEST, TRAIN, TextTask, held_out_values, split_of, tasks
from nainjaune_env.core.errors import ConfigError, NainJauneError
from nainjaune_env.core.random_rules import knob_samples
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game
from tests.support.source import ROOT

COUNT = 120


@pytest.fixture(scope="module", params=game_names())
def splits(request: pytest.FixtureRequest) -> dict[str, list[TextTask]]:
    return {split: tasks(request.param, split, COUNT) for split in SPLITS}


def of_rounds(task: TextTask) -> str:
    return repr(task.setup().kernel_rules)


def test_a_task_depends_on_game_split_and_number_alone(splits: dict[str, list[TextTask]]) -> None:
    for split, made in splits.items():
        assert tasks(made[0].game, split, 5, first=20) == made[20:25]
        assert [(task.split, task.index) for task in made] == [(split, k) for k in range(COUNT)]
        assert all(TextTask.from_dict(json.loads(json.dumps(task.to_dict()))) == task for task in made[:50])


def test_splits_share_no_deal(splits: dict[str, list[TextTask]]) -> None:
    seeds = [task.seed for made in splits.values() for task in made]
    assert len({*seeds}) == 3 * COUNT
    deals = {Batch(task.setup(), 1, seed=task.seed).tables.tobytes() for made in splits.values() for task in made}
    assert len(deals) == 3 * COUNT
    assert {split: {task.seed % 3 for task in made} for split, made in splits.items()} == {
        split: {number} for number, split in enumerate(SPLITS)
    }


def test_splits_share_no_random_rules(splits: dict[str, list[TextTask]]) -> None:
    presets = {split: {of_rounds(task) for task in made if split_of(task.setup()) is None} for split, made in splits.items()}
    rules = {split: {of_rounds(task) for task in made} - presets[split] for split, made in splits.items()}
    assert not rules[TRAIN] & rules[TEST]
    assert not (rules[TRAIN] | rules[TEST]) & rules[HELD_OUT]
    assert presets[HELD_OUT] == set()
    assert presets[TRAIN] & presets[TEST]


def test_held_out_values_are_in_their_split_alone(splits: dict[str, list[TextTask]]) -> None:
    game = splits[TRAIN][0].game
    values = held_out_values(game)
    assert values
    for split, made in splits.items():
        with_value = [any(getattr(task.setup().rules, name) == value for name, value in values.items()) for task in made]
        assert all(with_value) if split == HELD_OUT else not any(with_value)
    seen = {name for task in splits[HELD_OUT] for name, value in values.items() if getattr(task.setup().rules, name) == value}
    assert seen == {*values}
    for name, value in values.items():
        assert value in knob_samples(get_game(game))[name]


@pytest.mark.parametrize("game", game_names())
def test_held_out_values_are_published(game: str) -> None:
    page = (ROOT / "docs" / "language_models.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {get_game(game).title} |"))
    assert re.findall("`(.*?)`", row) == [f"{name}={value}" for name, value in held_out_values(game).items()]


def test_half_of_the_tasks_of_nain_jaune_have_random_knobs() -> None:
    for split in (TRAIN, TEST):
        made = tasks("nain_jaune", split, COUNT)
        assert 0.4 < sum(split_of(task.setup()) == split for task in made) / COUNT < 0.6
        assert {task.preset for task in made} == {"djeco", "classic", "skip", "tableau"}
        assert {*Counter(task.players for task in made)} == {*range(2, 9)}
        assert {task.seat for task in made} == {*range(8)}


def test_the_models_seat_has_a_decision(splits: dict[str, list[TextTask]]) -> None:
    for made in splits.values():
        assert not any(TextRound(task, TextEnvSettings(reward=CHIPS)).done for task in made[:40])


def test_seeds_of_tasks_are_published_numbers() -> None:
    """They must not change: results are compared by them."""
    made = {
        split: [(task.preset, task.players, task.seed, task.seat) for task in tasks("nain_jaune", split, 2)] for split in SPLITS
    }
    assert made == {
        "train": [("djeco", 3, 4671511926427716, 1), ("djeco", 2, 1201807111719942, 0)],
        "test": [("skip", 2, 3381481900231240, 0), ("classic", 6, 3214587705566995, 3)],
        "held_out": [("tableau", 3, 6287562966052451, 1), ("djeco", 4, 6001004091025493, 3)],
    }


def test_knobs_hold_in_every_task() -> None:
    for split in SPLITS:
        made = tasks("batasaurus", split, 40, knobs={"memory": "perfect"})
        assert {task.setup().rules.memory for task in made} == {"perfect"}  # type: ignore[attr-defined]
        assert len({task.setup().rules.dinosaurs for task in made}) > 1 or split == HELD_OUT  # type: ignore[attr-defined]


TASK = tasks("nain_jaune", TRAIN, 1)[0].to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "validation"}, "Unknown split 'validation'. Valid: train, test, held_out."),
        ({"seat": 3}, "The model's seat is from 0 to 2, not 3."),
        ({"seed": -1}, "A seed is a whole number from 0"),
        ({"index": 1.5}, "A task: expected 'index' to be a whole number from 0 to 4294967295, not 1.5."),
        ({"game": "chess"}, "'chess'"),
        ({"knobs": {"stake": 0}}, "stake"),
        ({"knobs": {"stakes": 1}}, "stakes"),
        ({"knobs": {"preset": "classic"}}, "Unknown knob 'preset'."),
        ({"extra": 1}, "A task: Unknown key 'extra'."),
    ],
)
def test_a_task_that_is_none_is_refused_with_a_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(NainJauneError) as error:
        TextTask.from_dict({**TASK, **change})
    assert message in str(error.value)


def test_bad_arguments_are_refused_with_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^A task: The key 'seat' is missing\.$"):
        TextTask.from_dict({key: value for key, value in TASK.items() if key != "seat"})
    with pytest.raises(ConfigError, match=re.escape("A task: expected keys and values, not [1].")):
        TextTask.from_dict([1])
    for arguments, keywords in (
        (("nain_jaune", "all", 1), {}),
        (("nain_jaune", TRAIN, -1), {}),
        (("nain_jaune", TRAIN, 1), {"first": -1}),
        (("nain_jaune", TRAIN, 1), {"knobs": {"stake": 20}}),
        (("nain_jaune", TRAIN, 1), {"knobs": {"unknown": 20}}),
        (("signal_lamps", HELD_OUT, 1), {"knobs": {"idle": 3}}),
    ):
        with pytest.raises(NainJauneError, match=r"^[A-Z][^\n]+\.$"):
            tasks(*arguments, **keywords)  # type: ignore[arg-type]
