"""Records of this game: written as played, refused where anything is not as replayed, the same on the slow twin."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.cards import DECK
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.actions import action_of
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.records.write import transcribe
from nainjaune_env.records.record import Record, read_records, verify_record
from nainjaune_env.registry import make_setup
from tests import golden
from tests.support.recorded import logged, play, seeds, setups
from tests.twin.nain_jaune import Knobs, TwinMatch


def on_the_twin(record: Record) -> None:
    """Replay on the slow twin, which shares no code with the kernel, and compare every figure."""
    match = TwinMatch(Knobs(**record["rules"]), record["players"], record["rounds"][0]["dealer"])
    match.pots = list(record["rounds"][0]["pots"])
    for written in record["rounds"]:
        assert (match.dealer, match.stacks, match.pots) == (written["dealer"], written["stacks"], written["pots"])
        round_ = match.new_round(written["hands"])
        choices = written.get("legal") or [None] * len(written["moves"])  # optional
        for (seat, move), legal in zip(written["moves"], choices, strict=True):
            assert not round_.over
            assert seat == round_.seat
            assert legal is None or sorted(legal) == sorted(round_.legal())
            round_.play(move)
        assert round_.over
        assert round_.winner == written["winner"]
        assert round_.grand_opera == written["grand_opera"]
        assert round_.defaults == written["defaults"]
        match.finish_round(round_)
        assert (match.stacks, match.pots) == (written["stacks_after"], written["pots_after"])
    assert match.over
    assert (match.stacks, match.pots, match.winners) == (record["stacks"], record["pots"], record["winners"])


@pytest.mark.parametrize("name", golden.cases("nain_jaune"))
def test_golden_records_replay_on_the_twin(name: str) -> None:
    (record,) = read_records(golden.FOLDER / f"{name}.jsonl")
    on_the_twin(record)


@settings(max_examples=25, deadline=None)
@given(setups("nain_jaune"), seeds)
def test_whatever_is_played_verifies_and_replays_on_the_twin(setup: Setup, seed: int) -> None:
    (record,) = play(setup, seed)
    assert verify_record(record) == len(record["rounds"])
    on_the_twin(record)


def test_real_cards_are_those_dealt_and_none_comes_twice() -> None:
    (record,) = play(make_setup("nain_jaune", "classic", 4), 3)
    for written in record["rounds"]:
        assert sorted(itertools.chain(*written["hands"], written["talon"])) == sorted(DECK)
        shown = [move for _, move in written["moves"] if move != "-"]
        assert len(shown) == len(set(shown))


def test_n1_3_the_suits_shown_are_not_the_kernels_choice() -> None:
    records = play(make_setup("nain_jaune", "djeco", 2), 1, 20, episode="round")
    pairs = lowest = 0
    for record in records:
        for (_, move), legal in zip(record["rounds"][0]["moves"], record["rounds"][0]["legal"], strict=True):
            like = [card for card in legal if card[0] == move[0] and card not in ("Td", "Jc", "Qs", "Kh", "7d")]
            if len(like) == 2 and move in like:
                pairs += 1
                lowest += move == min(like, key=DECK.index)
    assert pairs > 100
    assert 0.35 < lowest / pairs < 0.65


# ---------------------------------------------------------------- transcribe


def test_a_log_holds_forced_plies_too() -> None:
    setup = make_setup("nain_jaune", "djeco", 3)
    table, actions = logged(setup, 5)
    before = table.tobytes()
    body = transcribe(setup, table, actions)
    assert table.tobytes() == before  # it is not touched
    assert [action_of(move) for written in body["rounds"] for _, move in written["moves"]] == actions
    batch, forced = Batch(setup, 1, episode="match", skip_forced=False, autoreset=False), 0
    batch.set_tables(0, table)
    for action in actions:
        forced += not setup.game.kernel.needs_decision(batch.tables[0], setup.kernel_rules, batch.legal[0])
        batch.step([action])
    assert batch.done[0]
    assert forced


def test_each_round_shows_the_cards_that_the_table_dealt_gives() -> None:
    setup = make_setup("nain_jaune", "djeco", 3)
    table, actions = logged(setup, 5)
    body = transcribe(setup, table, actions)
    assert transcribe(setup, table, actions) == body


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: log[:-1], "expected another action, and the log ends after"),
        (lambda log: [*log, 0], "was over after .* actions, and the log holds"),
        (lambda log: [18, *log[1:]], r"Round 1, move 1: the log's action number 1 is 18 \(-\); legal were \d+ \("),
    ],
)
def test_a_log_that_does_not_fit_is_refused(change: Callable[[list[int]], list[int]], message: str) -> None:
    setup = make_setup("nain_jaune", "djeco", 3)
    table, actions = logged(setup, 5)
    with pytest.raises(RecordError, match=message):
        transcribe(setup, table, change(actions))


def test_a_table_in_mid_round_or_mid_match_is_refused() -> None:
    setup = make_setup("nain_jaune", "djeco", 3)
    batch = Batch(setup, 1, seed=1, episode="match")
    choices = streams(1, 1)
    batch.step(batch.sample(choices))
    with pytest.raises(RecordError, match=r"begins with a match's first deal; this table is in round 1, \d+ cards played"):
        transcribe(setup, batch.tables[0], [])


def test_n4_7_pots_too_full_to_tell_are_refused() -> None:
    setup = make_setup("nain_jaune", "djeco", 3)
    batch = Batch(setup, 1, start={"pots": [1 << 28, 0, 0, 0, 0]})
    with pytest.raises(RecordError, match="too full to take every ante"):
        transcribe(setup, batch.tables[0], [])


def test_a_match_that_did_not_start_with_the_rules_stacks_is_refused() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    hands = [DECK[12 * seat : 12 * seat + 12] for seat in range(4)]
    table = setup_table(setup, hands, dealer=3, stacks=[30, 60, 49, 49])
    with pytest.raises(RecordError, match=r"starts with the rules' stacks, \[49, 49, 49, 49\]; .* with \[30, 60, 49, 49\]"):
        transcribe(setup, table, [])


def test_pots_that_a_match_starts_with_are_in_its_record() -> None:
    (record,) = play(make_setup("nain_jaune", "classic", 3, max_rounds=1), 2, start={"pots": [4, 0, 7, 0, 9]})
    assert record["rounds"][0]["pots"] == [4, 0, 7, 0, 9]
    assert verify_record(record) == 1
    on_the_twin(record)


# -------------------------------------------------------------------- verify


@pytest.fixture(scope="module")
def sound() -> Record:
    """Two rounds, silent plays and rights to decline among them."""
    (record,) = read_records(golden.FOLDER / "explicit.jsonl")
    return record


def test_legal_lists_may_be_left_out_and_stand_in_any_order(sound: Record) -> None:
    record = copy.deepcopy(sound)
    del record["rounds"][0]["legal"]
    for choices in record["rounds"][1]["legal"]:
        choices.reverse()
    record["rounds"][1]["talon"].reverse()
    record["rounds"][1]["hands"][0].reverse()
    assert verify_record(record) == 2


FIGURES = ("dealer", "winner", "stacks", "pots", "stacks_after", "pots_after")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_changed_figure_is_refused_naming_its_place(sound: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(sound)
    k = data.draw(st.integers(0, len(record["rounds"]) - 1))
    holder = data.draw(st.sampled_from([record["rounds"][k], record]))
    key = data.draw(st.sampled_from([key for key in FIGURES if key in holder]))
    by = data.draw(st.sampled_from([-1, 1]))
    value = holder[key]
    if isinstance(value, list):
        value[data.draw(st.integers(0, len(value) - 1))] += by
    else:
        holder[key] = value + by
    with pytest.raises(RecordError) as caught:
        verify_record(record)
    place = "The end" if holder is record else f"Round {k + 1}"
    assert str(caught.value).startswith(place)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_move_that_cannot_be_is_refused_naming_it(sound: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(sound)
    k = data.draw(st.integers(0, len(record["rounds"]) - 1))
    written = record["rounds"][k]
    at = data.draw(st.integers(0, len(written["moves"]) - 1))
    seat, _ = written["moves"][at]
    moves = (*DECK, "-", "7d~", "Td~", "5h~", "1s", "", "--", "as")
    wrong = data.draw(
        st.one_of(
            st.just([1 - seat, written["moves"][at][1]]),
            st.just([seat]),
            st.just([seat, written["moves"][at][1], 0]),
            st.just([float(seat), written["moves"][at][1]]),
            st.just([seat, None]),
            st.sampled_from([[seat, move] for move in moves if move not in written["legal"][at]]),
        )
    )
    written["moves"][at] = wrong
    with pytest.raises(RecordError) as caught:
        verify_record(record)
    assert str(caught.value).startswith(f"Round {k + 1}, move {at + 1}: ")
    assert repr(written["legal"][at]) in str(caught.value)
    assert repr(wrong) in str(caught.value)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_changed_legal_list_is_refused_naming_its_move(sound: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(sound)
    k = data.draw(st.integers(0, len(record["rounds"]) - 1))
    lists = record["rounds"][k]["legal"]
    at = data.draw(st.integers(0, len(lists) - 1))
    change = data.draw(st.sampled_from(["drop", "repeat", "add", "not text"]))
    if change == "drop":
        lists[at].pop()
    elif change == "repeat":
        lists[at].append(lists[at][0])
    else:
        lists[at].append("nothing" if change == "add" else 7)
    with pytest.raises(RecordError, match=rf"^Round {k + 1}, move {at + 1}: expected 'legal' to "):
        verify_record(record)


def drop_last_move(record: Record) -> None:
    record["rounds"][0]["moves"].pop()
    record["rounds"][0]["legal"].pop()


def add_a_move(record: Record) -> None:
    record["rounds"][0]["moves"].append([0, "-"])
    record["rounds"][0]["legal"].append(["-"])


def swap_hand_and_talon(record: Record) -> None:
    hand, talon = record["rounds"][1]["hands"][0], record["rounds"][1]["talon"]
    hand[0], talon[0] = talon[0], hand[0]
    record["rounds"][1]["moves"] = [[seat, talon[0] if move == hand[0] else move] for seat, move in record["rounds"][1]["moves"]]


def in_round(key: str, value: Any, k: int = 0) -> Callable[[Record], None]:
    return lambda record: record["rounds"][k].__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop_last_move, r"Round 1: expected a move \d+ by seat \d, one of \[.*\], and the moves end"),
        (add_a_move, r"Round 1, move \d+: expected no more moves, for seat \d has gone out; the record has \[0, '-'\]"),
        (swap_hand_and_talon, r"Round 2, move \d+: "),
        (lambda r: r["rounds"].pop(), "The record: expected a round 2, for the match is not over"),
        (lambda r: r["rounds"].clear(), "The record: expected a round 1, for the match is not over"),
        (lambda r: r["rounds"].append(r["rounds"][0]), "Round 3: expected no more rounds, for the match was over after round 2"),
        (lambda r: r["rounds"][1].pop("winner"), "Round 2: the key 'winner' is missing"),
        (lambda r: r["rounds"][1].update(winer=0), "Round 2: Unknown key 'winer'. Did you mean 'winner'"),
        (lambda r: r["rounds"].__setitem__(1, []), "The record: expected 'rounds' to be a list of objects"),
        (lambda r: r["rounds"][0]["hands"].pop(), "Round 1: With 2 players there are 2 hands of 22 cards"),
        (lambda r: r["rounds"][0]["hands"][1].pop(), r"Round 1: With 2 players .* not \[22, 21\]"),
        (lambda r: r["rounds"][0]["hands"][1].__setitem__(0, "Zz"), "Round 1: The deal is no deck: 'Zz' is no card"),
        (lambda r: r["rounds"][0]["hands"][1].__setitem__(0, r["rounds"][0]["hands"][0][0]), "dealt more than once"),
        (lambda r: r["rounds"][0]["hands"].__setitem__(0, "As"), "Round 1: expected 'hands' to be a list of lists"),
        (lambda r: r["rounds"][0]["hands"][0].__setitem__(0, 1), r"Round 1: expected 'hands\[0\]' to be a list of texts"),
        (lambda r: r["rounds"][0]["talon"].pop(), "Round 1: expected the talon to be the 8 cards left"),
        (lambda r: r["rounds"][0]["legal"].pop(), r"Round 1: expected 'legal' to be a list of \d+ lists"),
        (in_round("dealer", 2), "Round 1: The dealer is a seat from 0 to 1, not 2"),
        (in_round("dealer", True), "Round 1: expected 'dealer' to be a seat from 0 to 1, not True"),
        (in_round("pots", [0, 0, 0, 0, -1]), "Round 1: A pot holds from 0"),
        (in_round("pots", [0, 0, 0, 0]), "Round 1: expected 'pots' to be a list of 5 whole numbers"),
        (in_round("stacks", [49.0, 49]), r"Round 1: expected 'stacks' to be \[49, 49\], and it is \[49.0, 49\]"),
        (in_round("grand_opera", 0), "Round 1: expected 'grand_opera' to be False, and it is 0"),
        (in_round("defaults", [0]), r"Round 1: expected 'defaults' to be \[\], and it is \[0\]"),
        (lambda r: r.update(winners=[]), r"The end: expected 'winners' to be \[\d\], and it is \[\]"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(sound: Record, change: Callable[[Record], None], message: str) -> None:
    record = copy.deepcopy(sound)
    change(record)
    with pytest.raises(RecordError, match=message):
        verify_record(record)
