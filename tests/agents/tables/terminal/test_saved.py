"""A match that was left goes on as if it had not been; a file that is none is refused in a sentence."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nainjaune_agents.tables.terminal.saved import SavedMatch, load_match, save_match, saved_path
from nainjaune_agents.tables.terminal.table import PersonsTable
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.records.record import Record
from nainjaune_env.registry import get_game, make_setup
from tests.agents.tables.terminal.test_session import obliging
from tests.agents.tables.terminal.typist import Typist, persons_table, session
from tests.support.games import games_with

MATCH = SavedMatch(
    make_setup("nain_jaune", "classic", 3, stake=2), 1, ["tally", "lowest"], "Zoé", 7, None, False, None, [[1, 2], [3]]
)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    for match in (MATCH, replace(MATCH, rounds=3, records="/a/b.jsonl", every_ply=True)):
        save_match(tmp_path / "deep" / "m.json", match)
        assert load_match(tmp_path / "deep" / "m.json") == match


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_the_person_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "nainjaune-env" / "play.json"
    save_match(path, MATCH)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    save_match(path, replace(MATCH, rounds=3))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_lies_with_the_states_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert saved_path() == Path("/state/nainjaune-env/play.json")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert saved_path() == Path("/home/me/.local/state/nainjaune-env/play.json")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "is not a match that was left, of the format"),
        ({"version": True}, "is not a match that was left, of the format"),
        ({"format": "record"}, "is not a match that was left, of the format"),
        ({"sede": 1}, "is a damaged match: Unknown key 'sede'. Did you mean 'seed'?"),
        ({"plies": []}, "is a damaged match: expected 'plies' to be a list, at least 1 long, not []."),
        ({"plies": [[1, "a"]]}, "is a damaged match: expected 'plies[0][1]' to be a whole number, at least 0, not 'a'."),
        ({"rounds": 0}, "is a damaged match: expected 'rounds' to be a whole number, at least 1, or null, not 0."),
        ({"agents": ["tally"]}, "is a damaged match: 2 agents play, not 1."),
        (
            {"seed": 1 << 64},
            "is a damaged match: A seed is a whole number from 0 to 18446744073709551615, not 18446744073709551616.",
        ),
        ({"setup": None}, "is a damaged match: expected 'setup' to be keys and values, not None."),
        ({"setup": {}}, "is a damaged match: The key 'setup.game' is missing."),
        ({"setup": {"game": "nain_jaune", "preset": "djeco", "players": 3, "rules": {"stak": 1}}}, "Unknown knob 'stak'"),
    ],
)
def test_damaged_files_are_refused(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    save_match(path, MATCH)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(says)):
        load_match(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "\x00"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a match that was left"):
        load_match(tmp_path / "m.json")
    with pytest.raises(ConfigError, match="There is no match that was left at"):
        load_match(tmp_path / "none.json")


def answers_at(tables: list[PersonsTable], seed: int) -> Iterator[str]:
    """Legal moves at the last of ``tables``, and Enter where none is asked for."""
    rng = random.Random(seed)
    while True:
        table = tables[-1]
        over = table.round_over or table.must_memorise or table.at_turn != table.seat
        yield "" if over else table.speaker.typed(rng.choice(table.legal))


@pytest.mark.parametrize("game", games_with("speaker"))
@pytest.mark.parametrize("moves", [2, 5, 9])
def test_a_match_that_was_left_goes_on_as_if_it_had_not_been(game: str, moves: int) -> None:
    """The agents draw at random, so their generators must go on too."""
    options: dict[str, Any] = {"preset": get_game(game).default_preset, "seed": 3, "by_rounds": True}
    whole: list[Record] = []
    parts: list[Record] = []
    left: list[list[list[int]]] = []

    table = persons_table(**options)
    own = answers_at([table], 8)
    assert session(table, Typist(own), keep=lambda record: str(whole.append(record)), look=0).run(3) == 0

    tables = [persons_table(**options)]
    own = answers_at(tables, 8)
    typist = Typist(itertools.islice(own, moves))
    first = session(tables[0], typist, keep=lambda record: str(parts.append(record)), leave=left.append, look=0)
    assert first.run(3) == 0
    assert "nainjaune play --resume goes on with it." in typist.shown

    tables.append(persons_table(**options))
    gone_on = session(tables[1], Typist(own), keep=lambda record: str(parts.append(record)), look=0)
    gone_on.repeat(left[-1])
    assert gone_on.run(3) == 0
    assert parts == whole
    assert gone_on.rounds == 3


def test_an_agent_that_plays_otherwise_now_is_said() -> None:
    table = persons_table("djeco", seed=5, seat=3)
    typist = Typist(obliging(table))
    session(table, typist).run()
    plies = table.plies
    other = persons_table("djeco", seed=5, seat=3, agent="lowest")
    with pytest.raises(
        ConfigError,
        match=r"The match cannot go on: (the agent in seat \d plays otherwise|its ply is illegal when it is repeated: \d+ \()",
    ):
        session(other, Typist([])).repeat(plies)


def test_nothing_is_kept_of_a_match_without_a_move() -> None:
    left: list[object] = []
    typist = Typist(["q", "y"])
    assert session(persons_table("djeco", seed=5, seat=3), typist, leave=left.append).run() == 0
    assert not left
    assert "--seed 5" in typist.shown.splitlines()[-1]
