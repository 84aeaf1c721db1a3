"""Records of this game: written as played, refused where anything is not as replayed, the same on the slow twin."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.records.write import transcribe
from nainjaune_env.records.record import Record, format_record, parse_record, read_records, setup_of, verify_record
from nainjaune_env.registry import make_setup
from tests import golden
from tests.support.recorded import logged, play, seeds, setups
from tests.twin.batasaurus import Knobs, TwinGame


def on_the_twin(record: Record) -> TwinGame:
    """Replay on the slow twin, which shares no code with the kernel, and compare every figure."""
    game = TwinGame(Knobs(**record["rules"]), record["layouts"], record["leader"])
    while game.phase() == "memorise":
        game.play(MEMORISE)
    for seat, slot in record["moves"]:
        assert not game.over
        assert seat == game.seat()
        assert slot in game.legal()
        game.play(slot)
    assert game.over
    assert game.piles == record["piles"]
    assert game.winners() == record["winners"]
    return game


@pytest.mark.parametrize("name", golden.cases("batasaurus"))
def test_golden_records_replay_on_the_twin(name: str) -> None:
    (record,) = read_records(golden.FOLDER / f"{name}.jsonl")
    on_the_twin(record)


def test_golden_records_have_the_rare_events() -> None:
    games = []
    for name in golden.cases("batasaurus"):
        (record,) = read_records(golden.FOLDER / f"{name}.jsonl")
        games.append((on_the_twin(record), record["rules"]))
    tricks = [trick for game, _ in games for trick in game.done_tricks]
    assert max(len(trick.rounds) for trick in tricks) > 2, "a battle on a battle"
    assert any(trick.dropped for trick in tricks)
    exhausted = {rules["exhausted"] for game, rules in games if any(trick.exhausted for trick in game.done_tricks)}
    assert exhausted == {"split", "void"}


@settings(max_examples=60, deadline=None)
@given(setups("batasaurus"), seeds)
def test_whatever_is_played_verifies_and_replays_on_the_twin(setup: Setup, seed: int) -> None:
    (record,) = play(setup, seed)
    assert verify_record(record) == 1
    assert parse_record(format_record(record)) == record
    on_the_twin(record)


@settings(max_examples=20, deadline=None)
@given(setups("batasaurus"), seeds)
def test_layouts_are_those_dealt_and_every_card_played_is_a_move(setup: Setup, seed: int) -> None:
    table = Batch(setup, 1, seed=seed).tables[0]
    (record,) = play(setup, seed)
    dinosaurs = setup.rules.dinosaurs  # type: ignore[attr-defined]
    assert record["layouts"] == table.layout[: setup.players, :dinosaurs].tolist()
    assert record["leader"] == table.first
    left = [dinosaurs - sum(mover == seat for mover, _ in record["moves"]) for seat in range(setup.players)]
    assert min(left) == 0
    assert len({tuple(move) for move in record["moves"]}) == len(record["moves"])
    assert all(type(number) is int for row in (*record["layouts"], *record["moves"], record["piles"]) for number in row)


# ---------------------------------------------------------------- transcribe


@pytest.mark.parametrize("memory", ["glimpse", "perfect"])
def test_a_log_holds_forced_plies_too(memory: str) -> None:
    setup = make_setup("batasaurus", players=3, memory=memory)
    table, actions = logged(setup, 5)
    before = table.tobytes()
    body = transcribe(setup, table, actions)
    assert table.tobytes() == before  # it is not touched
    played = [slot for _, slot in body["moves"]]
    assert actions == [MEMORISE] * (3 if memory == "glimpse" else 0) + played
    plies, decisions = (Batch(setup, 1, skip_forced=skip_forced, autoreset=False) for skip_forced in (False, True))
    for batch in (plies, decisions):
        batch.set_tables(0, table)
    made = 0
    for action in actions:
        if plies.tables[0].tobytes() == decisions.tables[0].tobytes():
            decisions.step([action])
            made += 1
        plies.step([action])
    assert plies.done[0]
    assert plies.tables[0].tobytes() == decisions.tables[0].tobytes()
    assert made < len(actions)  # last cards are forced


def test_b4_2_memorising_is_in_the_log_and_not_among_the_moves() -> None:
    setup = make_setup("batasaurus", players=3)
    table, actions = logged(setup, 5)
    assert actions[:3] == [MEMORISE] * 3
    body = transcribe(setup, table, actions)
    assert all(0 <= slot < 12 for _, slot in body["moves"])
    with pytest.raises(RecordError, match=r"Move 1: .* number 1 is \d+ \(slot \d+\); legal were 12 \(memorise\)\.$"):
        transcribe(setup, table, actions[3:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: log[:-1], r"Move \d+: expected another action, and the log ends after \d+\."),
        (lambda log: [*log, 0], r"The match was over after \d+ actions, and the log holds \d+\."),
        (lambda log: [*log[:6], 13, *log[7:]], r"Move 4: the log's action number 7 is 13 \(actions are 0 to 12\); legal were "),
        (lambda log: [*log[:3], 12, *log[3:]], r"Move 1: .* number 4 is 12 \(memorise\); legal were 0 \(slot 0\), "),
    ],
)
def test_a_log_that_does_not_fit_is_refused(change: Callable[[list[int]], list[int]], message: str) -> None:
    setup = make_setup("batasaurus", players=3)
    table, actions = logged(setup, 5)
    with pytest.raises(RecordError, match=message):
        transcribe(setup, table, change(actions))


@pytest.mark.parametrize(("steps", "result"), [(1, "trick 1, 0 cards played"), (4, "trick 1, 1 cards played")])
def test_a_table_in_the_middle_of_a_game_is_refused(steps: int, result: str) -> None:
    setup = make_setup("batasaurus", players=3)
    batch = Batch(setup, 1, seed=1)
    for _ in range(steps):
        batch.step([int(np.flatnonzero(batch.mask[0])[0])])
    with pytest.raises(RecordError, match=rf"begins with a match's first deal; this table is in {result}, seat \d to act"):
        transcribe(setup, batch.tables[0], [])


def test_a_table_that_does_not_show_its_cards_is_refused() -> None:
    setup = make_setup("batasaurus", players=2)
    hidden = Batch(setup, 1, seed=1).redacted(0)[0]
    with pytest.raises(RecordError, match=r"opening table\. A layout holds each of the values 1 to 12 once"):
        transcribe(setup, hidden, [])


def test_a_table_of_other_rules_is_refused() -> None:
    table = Batch(make_setup("batasaurus", players=2), 1, seed=1).tables[0]
    with pytest.raises(RecordError, match=r"With memory = perfect layouts are sorted"):
        transcribe(make_setup("batasaurus", players=2, memory="perfect"), table, [])
    with pytest.raises(RecordError, match=r"begins with a match's first deal|A layout holds each of the values 1 to 5 once"):
        transcribe(make_setup("batasaurus", players=2, dinosaurs=5), table, [])


# -------------------------------------------------------------------- verify


@pytest.fixture(scope="module")
def sound() -> Record:
    """Three seats under glimpse: battles, one on another, a seat that drops out, cards left over."""
    (record,) = read_records(golden.FOLDER / "batasaurus_glimpse_3.jsonl")
    return record


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_changed_figure_is_refused_naming_the_end(sound: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(sound)
    key = data.draw(st.sampled_from(["piles", "winners"]))
    at = data.draw(st.integers(0, len(record[key]) - 1))
    record[key][at] += data.draw(st.sampled_from([-1, 1]))
    with pytest.raises(RecordError, match=f"^The end: expected '{key}' to be "):
        verify_record(record)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_move_that_cannot_be_is_refused_naming_it(sound: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(sound)
    moves = record["moves"]
    at = data.draw(st.integers(0, len(moves) - 1))
    seat, slot = moves[at]
    gone = [used for mover, used in moves[:at] if mover == seat]
    wrong = data.draw(
        st.one_of(
            st.sampled_from([[other, slot] for other in (-1, 0, 1, 2, 3) if other != seat]),
            st.sampled_from([[seat, other] for other in (-1, 12, 13, *gone)]),
            st.sampled_from([[seat], [], [seat, slot, 0], [seat, None], [str(seat), slot], [[seat], slot]]),
            st.sampled_from([[float(seat), slot], [seat, float(slot)], [seat, bool(slot)], [bool(seat), slot]]),
        )
    )
    moves[at] = wrong
    with pytest.raises(RecordError) as caught:
        verify_record(record)
    left = [number for number in range(12) if number not in gone]
    assert str(caught.value).startswith(f"Move {at + 1}: ")
    assert str(caught.value).endswith(f"expected [{seat}, one of {left}], and the move is {wrong!r}.")


def trade_two_cards(record: Record) -> None:
    """Seat 0's first card is the higher one now, and takes the first trick."""
    row = record["layouts"][0]
    assert (row[10], row[3], record["moves"][1]) == (2, 5, [0, 10])
    row[10], row[3] = row[3], row[10]


def putting(*path: Any, value: Any) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        place: Any = record
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["moves"].clear(), r"The record: expected a move 1 by seat 2, from one of the slots \[0, 1, .*\], and"),
        (lambda r: r["moves"].append([0, 2]), r"Move \d+: expected no more moves, for the game is over; the record has \[0, 2\]"),
        (lambda r: r["moves"].append(None), r"Move \d+: expected no more moves, for the game is over; the record has None\."),
        (putting("moves", 1, value=7), r"Move 2: expected \[\d, one of \[.*\]\], and the move is 7\."),
        (putting("moves", value={}), r"The record: expected 'moves' to be a list of lists, not {}"),
        (lambda r: r["layouts"].pop(), r"The record: expected 'layouts' to be a list of 3 lists"),
        (lambda r: r["layouts"][1].pop(), r"The record: expected 'layouts\[1\]' to be a list of 12 whole numbers"),
        (putting("layouts", 1, 0, value=5.0), r"The record: expected 'layouts\[1\]' to be a list of 12 whole numbers"),
        (putting("layouts", 1, 0, value=13), r"The record: A layout holds each of the values 1 to 12 once, and seat 1's is \[13"),
        (putting("leader", value=3), r"The record: The leader is a seat from 0 to 2, not 3"),
        (putting("leader", value=True), r"The record: expected 'leader' to be a seat from 0 to 2, not True"),
        (putting("leader", value=0), r"Move 1: it is seat 0's turn; expected \[0, one of \[0, 1, .*\]\], and"),
        (putting("rules", "memory", value="perfect"), r"The record: With memory = perfect layouts are sorted \(B4\.1\), and"),
        (putting("rules", "dinosaurs", value=11), r"The record: expected 'layouts\[0\]' to be a list of 11 whole numbers"),
        (putting("winners", value=[]), r"The end: expected 'winners' to be \[0\], and it is \[\]"),
        (putting("piles", 0, value=14.0), r"The end: expected 'piles' to be \[14, 11, 11\], and it is \[14\.0, 11, 11\]"),
        (lambda r: r.pop("layouts"), r"The record: the key 'layouts' is missing"),
        (putting("layout", value=[]), r"The record: Unknown key 'layout'\. Did you mean 'layouts'"),
        (putting("rounds", value=[]), r"The record: Unknown key 'rounds'"),
        (trade_two_cards, r"Move 4: it is seat 0's turn; expected \[0, one of "),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(sound: Record, change: Callable[[Record], None], message: str) -> None:
    record = copy.deepcopy(sound)
    change(record)
    with pytest.raises(RecordError, match=f"^{message}"):
        verify_record(record)


def test_rules_that_share_otherwise_are_found_out() -> None:
    (record,) = read_records(golden.FOLDER / "batasaurus_perfect_2.jsonl")
    assert setup_of(record).rules.exhausted == "split"  # type: ignore[attr-defined]
    record["rules"]["exhausted"] = "void"
    with pytest.raises(RecordError, match=r"^The end: expected 'piles' to be \[8, 10\], and it is \[11, 13\]\.$"):
        verify_record(record)
