"""Plays a changed copy of Nain Jaune through every door that knows knobs, and stops at the first that does not fit.

python -m tests.support.knob_copy FOLDER KNOB VALUE   the copy in FOLDER has the knob
python -m tests.support.knob_copy FOLDER KNOB         it does not

``tests/project/test_knob_recipe.py`` makes the copy, and runs this with the folder first on the path.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import nainjaune_agents
import nainjaune_env
from nainjaune_agents.cli.main import main
from nainjaune_env.core.errors import KeywordError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.games.nain_jaune.language import LANGUAGES
from nainjaune_env.records.record import format_record, parse_record, read_records, setup_of, show_record, verify_record
from nainjaune_env.registry import get_game, make_setup
from tests.games.test_rules_pages import page, tables, with_tables
from tests.support.script import run_main


def play_rounds(setup: Setup) -> None:
    """Plays rounds at random: every table satisfies the invariants, and no payoff lies outside the extent."""
    assert setup.game.chance is not None
    extent = setup.game.chance.extent(setup)
    batch, draws = Batch(setup, 3, seed=1, autoreset=False), streams(2, 3)
    payoffs = np.zeros((3, setup.players), np.int64)
    payoffs += batch.reward
    while not batch.done.all():
        batch.step(np.where(batch.done, 0, batch.sample(draws)))
        payoffs += batch.reward
        setup.check_tables(batch.tables)
    assert extent.least <= payoffs.min() <= payoffs.max() <= extent.most


def play_match(setup: Setup, knobs: dict[str, Any]) -> None:
    """Plays a short match of one learner, and its record through text, verification and two languages."""
    env = SeatEnv(setup.preset, setup.players, opponents="random", episode="match", max_rounds=2, **knobs)
    _, info = env.reset(seed=3)
    over = not info["action_mask"].any()
    while not over:
        over = env.step(int(info["action_mask"].argmax()))[2]
        info = {"action_mask": env.action_masks()}
    record = parse_record(format_record(env.record()))
    assert verify_record(record) >= 1
    assert setup_of(record).knobs == {**knobs, **env.setup.knobs}
    assert record["rules"].items() >= knobs.items()
    assert [show_record(record, language) != "" for language in LANGUAGES] == [True, True]


def spoken_rules(setup: Setup) -> dict[str, str]:
    """Returns the summary of the rules by language."""
    assert setup.game.speaker is not None
    opening = Batch(setup, 1, seed=1).tables[0]
    return {name: setup.game.speaker(setup, opening, 0, name).rules() for name in LANGUAGES}


def check(folder: Path, knob: str, value: int | None) -> None:
    """Raises unless the game in ``folder`` has the ``knob``, at ``value``, or does not have it (None), everywhere."""
    assert Path(nainjaune_env.__file__).is_relative_to(folder)
    assert Path(nainjaune_agents.__file__).is_relative_to(folder)
    game, has = get_game("nain_jaune"), value is not None
    knobs = {knob: value} if has else {}
    for preset_name, preset in game.presets.items():
        assert (knob in {f.name for f in fields(preset.rules)}) == has
        for players in (preset.players[0], preset.players[-1]):
            play_rounds(make_setup("nain_jaune", preset_name, players, **knobs))
    setup = make_setup("nain_jaune", "djeco", 3, **knobs)
    assert setup.knobs == knobs
    play_match(setup, knobs)
    for language, text in spoken_rules(setup).items():
        assert (knob in LANGUAGES[language].phrases.knobs) == has
        for sentence in LANGUAGES[language].phrases.knobs.get(knob, {}).values():
            assert sentence.format(value=value) in text

    page(game).write_text(with_tables(game), encoding="utf-8")
    assert [f"| `{knob}` |" in table for table in tables(game).values()] == [has, has]
    assert (f"`{knob}`" in page(game).read_text(encoding="utf-8")) == has

    file = folder / "rounds.jsonl"
    command = ["evaluate", "--agents", "random", "lowest", "--preset", "djeco", "--players", "2", "--deals", "2", "--records"]
    played = run_main(main, *command, file, "--set", f"{knob}={value or 'cards'}")
    if has:
        assert played.returncode == 0, played.stderr
        assert run_main(main, "record", "verify", file).returncode == 0
        assert {record["rules"][knob] for record in read_records(file)} == {value}
    else:
        assert played.returncode == 2
        assert f"'{knob}'" in played.stderr
        try:
            make_setup(**{knob: "cards"})
        except KeywordError:
            return
        raise AssertionError(f"the copy still takes {knob}")


if __name__ == "__main__":
    check(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
