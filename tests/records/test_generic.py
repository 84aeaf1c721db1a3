"""Records of a game that has none of its own."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records import generic
from nainjaune_env.records.record import Record, format_record, parse_record, show_record, transcriber_of, verify_record
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import make_setup
from tests.support.contract import all_setups, single
from tests.support.recorded import play

SETUP = make_setup("signal_lamps", rounds=3)


@pytest.fixture(scope="module")
def record() -> Record:
    return play(SETUP, 1)[0]


def test_games_without_a_transcriber_have_this_one() -> None:
    assert transcriber_of(SETUP.game) is generic
    assert transcriber_of(make_setup("nain_jaune").game) is not generic


def test_a_record_holds_openings_plies_and_payoffs(record: Record) -> None:
    assert list(record)[-2:] == ["episode", "rounds"]
    assert record["episode"] == "match"
    first = record["rounds"][0]
    assert list(first) == ["opening", "plies", "payoffs"]
    assert list(first["opening"]) == ["symbol", "won", "plies", "rounds", "seat", "stage"]  # chance acts only in the deal
    assert [name for _, name in first["plies"][:2]] == ["look", "look"]
    assert len(first["plies"]) == 10
    assert parse_record(format_record(record)) == record
    assert verify_record(record) == 3


def test_a_round_by_itself_is_a_record() -> None:
    record = play(SETUP, 2, episode="round")[0]
    assert (record["episode"], len(record["rounds"])) == ("round", 1)
    assert verify_record(parse_record(format_record(record))) == 1


@pytest.mark.parametrize("setup", all_setups())
@pytest.mark.parametrize("skip_forced", [True, False])
def test_it_writes_any_game(setup: Setup, skip_forced: bool) -> None:
    setup = replace(setup, rules=setup.game.single_round(setup.rules))
    opening = single(setup, 3).tables[0].copy()
    batch, draws = Batch(setup, 1, seed=3, skip_forced=skip_forced, autoreset=False, log=True), streams(3, 1)
    while not batch.done[0]:
        batch.step(batch.sample(draws))
    actions = log_of(batch).episode(0).actions.tolist()
    body = generic.transcribe(setup, opening, actions)
    assert body["rounds"][0]["plies"] == [
        [seat, setup.game.actions[action]] for seat, action in zip(log_of(batch).episode(0).seats.tolist(), actions, strict=True)
    ]
    assert generic.verify(setup, json.loads(json.dumps(body))) == 1
    with pytest.raises(RecordError):
        generic.transcribe(setup, batch.tables[0], [])
    with pytest.raises(RecordError, match="the log"):
        generic.transcribe(setup, opening, [*actions, 0, 0])


def test_a_record_begins_with_a_matchs_first_deal() -> None:
    opening = single(SETUP, 3).tables[0].copy()
    opening["rounds"] = 2
    with pytest.raises(
        RecordError, match=r"^A record begins with a match's first deal: expected 'rounds' to be 1, and it is 2\.$"
    ):
        generic.transcribe(SETUP, opening, [])


def test_where_chance_acts_in_a_round_the_generator_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    opening = single(SETUP, 4).tables[0]
    step = generic.Replay.step

    def shaking(self: Any, action: int) -> None:
        step(self, action)
        self.table.rng += np.uint64(1)

    monkeypatch.setattr(generic.Replay, "step", shaking)
    actions = [4, 4, 0, 0, 0, 0, 0, 0, 0, 0]
    body = generic.transcribe(SETUP, opening, actions)
    assert body["rounds"][0]["opening"]["rng"] == int(opening.rng)


def opening_with(**values: Any) -> Callable[[Any], object]:
    return lambda r: r["rounds"][0]["opening"].update(values)


CHANGES: list[tuple[Callable[[Any], object], str]] = [
    (lambda r: r.update(episode="rubber"), "The record: Unknown episode 'rubber'."),
    (lambda r: r.update(rounds=[]), "The record: a match has a round, not 0."),
    (lambda r: r.update(episode="round"), "The record: a round has 1 round, not 3."),
    (lambda r: r["rounds"].pop(), "The record: expected a round 3, for the match is not over."),
    (lambda r: r["rounds"].append(r["rounds"][0]), "Round 4: expected no more rounds, for the match was over after round 3."),
    (lambda r: r["rounds"][0].pop("payoffs"), "Round 1: the key 'payoffs' is missing;"),
    (lambda r: r["rounds"][1]["opening"].pop("symbol"), "Round 2, opening: the key 'symbol' is missing;"),
    (lambda r: r["rounds"][1]["opening"].update(card=1), "Round 2, opening: Unknown key 'card'."),
    (opening_with(symbol=[1]), "Round 1, opening: expected 'symbol' to be whole numbers in shape (2,), "),
    (opening_with(symbol=[1, 1 << 15]), "Round 1, opening: expected 'symbol' to be whole numbers"),
    (opening_with(symbol=[1, True]), "Round 1, opening: expected 'symbol' to be whole numbers"),
    (opening_with(plies=1.0), "Round 1, opening: expected 'plies' to be a whole number, int16, not 1.0."),
    (opening_with(seat=2), "Round 1, opening: This table cannot occur: expected a seat from 0 to 1;"),
    (opening_with(stage=1), "Round 1, opening: expected 'stage' to be 0, and it is 1."),
    (opening_with(symbol=[-1, 0]), "Round 1, opening: This table cannot occur: expected 0 to 3;"),
    (opening_with(won=[1, 0]), "Round 1, opening: expected 'won' to be [0, 0], and it is [1, 0]."),
    (lambda r: r.update(rounds=r["rounds"][-1:]), "Round 1, opening: expected 'rounds' to be 1, and it is 3."),
    (lambda r: r["rounds"].pop(1), "Round 2, opening: expected 'rounds' to be 2, and it is 3."),
    (lambda r: r["rounds"].insert(1, r["rounds"].pop(0)), "Round 1, opening: expected 'rounds' to be 1, and it is 2."),
    (lambda r: r["rounds"][2]["plies"][0].__setitem__(1, "symbol 1"), "Round 3, ply 1: expected ["),
    (lambda r: r["rounds"][0]["plies"][3].__setitem__(0, True), "Round 1, ply 4: expected ["),
    (lambda r: r["rounds"][0]["plies"].__setitem__(3, 5), "Round 1, ply 4: expected ["),
    (lambda r: r["rounds"][0]["plies"].append([0, "look"]), "Round 1, ply 11: expected no more plies, for the round is over;"),
    (lambda r: r["rounds"][0]["plies"].pop(), "Round 1: expected a ply 10 by seat "),
    (lambda r: r["rounds"][0].update(payoffs=[2, 2]), "Round 1: expected 'payoffs' to be ["),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_what_replay_does_not_give_is_refused(record: Record, change: Callable[[Any], object], message: str) -> None:
    changed = copy.deepcopy(record)
    change(changed)
    with pytest.raises(RecordError) as caught:
        verify_record(changed)
    assert str(caught.value).startswith(message)


def test_a_record_is_shown_round_by_round(record: Record) -> None:
    text = show_record(record, "fr", 2)
    assert "Manche 2\n  symbol: " in text
    assert "Manche 1" not in text
    assert re.search(r"^  [01] seat[01]: look$", text, re.MULTILINE)
    assert show_record(record).count("Round ") == 3
    with pytest.raises(RecordError, match=r"has rounds 1 to 3, and no round 4\."):
        show_record(record, part=4)
