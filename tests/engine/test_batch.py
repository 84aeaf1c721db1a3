"""What `Batch` and `make_setup` refuse, in sentences, and what they hand out; play itself is in `test_contract`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError, DeviceError, IllegalActionError, NainJauneError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.rules import MAX_NUMBER
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import MAX_SEED
from nainjaune_env.engine import batch as batch_module
from nainjaune_env.engine.batch import MAX_TABLES, Batch
from nainjaune_env.engine.start_values import MAX_START_VALUE
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.registry import game_names, get_game, make_setup
from tests.twin.nain_jaune import DECK

SETUP = make_setup("nain_jaune")


def make(**options: Any) -> Batch:
    return Batch(SETUP, **{"num_tables": 3, **options})


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"game": "nain_jaun"}, "Unknown game 'nain_jaun'. Did you mean 'nain_jaune'? Valid: "),
        ({"game": 7}, "Unknown game 7. Valid: "),
        ({"game": "classic"}, "'classic' is a preset, not a game: preset='classic' is enough."),
        ({"game": "nain_jaune", "preset": "clasic"}, "'clasic'. Did you mean 'classic'? Valid: djeco, classic, skip, tableau."),
        ({"preset": "djeco", "players": 5}, "The preset 'djeco' is for 2 to 4 players, not 5."),
        ({"preset": "classic", "players": 2}, "The preset 'classic' is for 3 to 8 players, not 2."),
        ({"players": "4"}, "is for 2 to 4 players, not '4'."),
        ({"players": True}, "is for 2 to 4 players, not True."),
        ({"players": 4.0}, "is for 2 to 4 players, not 4.0."),
        ({"steak": 2}, "Unknown argument or knob 'steak'. Did you mean 'stake'? Valid: game, preset, players, direction, "),
        ({"player": 3}, "Unknown argument or knob 'player'. Did you mean 'players'? Valid: game, preset, players, direction, "),
        ({"zzz": 2}, "Unknown argument or knob 'zzz'. Valid: game, preset, players, direction, "),
        ({"decline": "nevr"}, "knob 'decline': 'nevr'. Did you mean 'never'? Valid: never, entry, always."),
        ({"stake": 0}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not 0."),
        ({"stake": True}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not True."),
        ({"stake": None}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not None."),
        ({"unannounced": 1.5}, "not 1.5."),
        ({"max_rounds": MAX_NUMBER + 1}, f"from 1 to {MAX_NUMBER} or None, not {MAX_NUMBER + 1}."),
        ({"end_on_default": 1}, "The knob 'end_on_default' is True or False, not 1."),
        ({"starting_stack": 14}, "must cover one round's antes, 15 chips at stake 1, and it is 14"),
    ],
)
def test_rules_that_cannot_be_are_refused_in_a_sentence(arguments: Any, sentence: str) -> None:
    with pytest.raises(RulesError, match=re.escape(sentence)) as refused:
        make_setup(**arguments)
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, NainJauneError)


def test_defaults_are_the_games_own() -> None:
    setup = make_setup()
    assert (setup.game.name, setup.preset, setup.players) == ("nain_jaune", "djeco", 4)
    assert make_setup("nain_jaune", "classic").players == 4
    assert "nain_jaune" in game_names()
    assert get_game() is get_game("nain_jaune")


def test_numpy_numbers_are_numbers() -> None:
    setup = make_setup("nain_jaune", "skip", np.int64(3), stake=np.int32(2))
    assert setup.players == 3
    assert setup.kernel_rules.round_antes == 30  # type: ignore[attr-defined]


def test_a_match_without_an_end_is_refused_and_its_rounds_are_not() -> None:
    setup = make_setup("nain_jaune", "classic", max_rounds=None)
    with pytest.raises(RulesError, match="A match under these rules has no end: set the knob 'max_rounds'"):
        Batch(setup, 1, episode="match")
    assert Batch(setup, 1, start="carried").legal[0]


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"num_tables": 0}, DealError, f"A batch has at least 1 table, and at most {MAX_TABLES}, not 0."),
        ({"num_tables": 99999999999999}, DealError, "and at most 268435456, not 99999999999999."),
        ({"num_tables": 2.0}, DealError, "not 2.0."),
        ({"threads": 99999999999}, DeviceError, "by 1 to 1024 threads, on a GPU by just 1; got threads=99999999999."),
        ({"threads": 1.5}, DeviceError, "got threads=1.5."),
        ({"threads": 0}, DeviceError, "got threads=0."),
        ({"seed": -1}, DealError, f"A seed is a whole number from 0 to {MAX_SEED}, not -1."),
        ({"skip_forced": "no"}, RulesError, "skip_forced is True or False, not 'no'."),
        ({"autoreset": 1}, RulesError, "autoreset is True or False, not 1."),
        ({"observe": None}, RulesError, "observe is True or False, not None."),
        ({"log": 1}, RulesError, "log is True or False, not 1."),
        ({"deal": "no"}, RulesError, "deal is True or False, not 'no'."),
        ({"episode": "rounds"}, RulesError, "Unknown episode 'rounds'. Did you mean 'round'? Valid: round, match."),
        ({"episode": np.zeros(2)}, RulesError, "Unknown episode array([0., 0.]). Valid: round, match."),
        ({"start": "carry"}, DealError, "Unknown start 'carry'. Did you mean 'carried'? Valid: fresh, carried."),
        ({"start": [1, 2]}, DealError, "start is 'fresh', 'carried' or values by name, not [1, 2]."),
        ({"start": {"pot": 1}}, DealError, "Unknown start value 'pot'. Did you mean 'pots'? Valid: pots."),
        ({"start": {"pots": [1, 2]}}, DealError, "start['pots'] has shape (5,) or (3, 5), not (2,)."),
        ({"start": {"pots": np.zeros((4, 5))}}, DealError, "start['pots'] has shape (5,) or (3, 5), not (4, 5)."),
        ({"start": {"pots": 9}}, DealError, "start['pots'] has shape (5,) or (3, 5), not ()."),
        ({"start": {"pots": [[9]] * 3}}, DealError, "start['pots'] has shape (5,) or (3, 5), not (3, 1)."),
        ({"start": {"pots": [[1], [1, 2]]}}, DealError, "start['pots'] is rows of one length, not [[1], [1, 2]]."),
        ({"start": {"pots": [1.9] * 5}}, DealError, "start['pots'] are whole numbers, not an array of float64."),
        ({"start": {"pots": [True] * 5}}, DealError, "start['pots'] are whole numbers, not an array of bool."),
        ({"start": {"pots": np.full(5, 2**64 - 1, np.uint64)}}, DealError, f"from 0 to {MAX_START_VALUE}; got {2**64 - 1} to "),
        ({"start": {"pots": [-1] * 5}}, DealError, f"Start values are from 0 to {MAX_START_VALUE}; got -1 to -1."),
        ({"start": {"pots": [0, 0, 0, 0, MAX_START_VALUE + 1]}}, DealError, f"got 0 to {MAX_START_VALUE + 1}."),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(options: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        make(**options)


def test_start_values_for_all_tables_or_for_each() -> None:
    batch = make(start={"pots": [10, 20, 30, 40, 50]})
    assert batch.tables["pot"].tolist() == [[14, 28, 42, 56, 70]] * 3
    batch = make(start={"pots": np.arange(15).reshape(3, 5)})
    assert (batch.tables["pot"] - 4 * np.arange(1, 6)).tolist() == np.arange(15).reshape(3, 5).tolist()
    assert make(start={}).tables["pot"].tolist() == [[4, 8, 12, 16, 20]] * 3


def test_no_values_for_a_game_that_takes_none() -> None:
    plain = replace(SETUP, game=replace(SETUP.game, start_values={}))
    assert Batch(plain, 2, start={}).tables.tobytes() == Batch(plain, 2).tables.tobytes()


def test_observe_off_writes_neither_observation_nor_mask() -> None:
    batch = make(observe=False)
    batch.step(batch.sample(streams(0, 3)))
    assert not batch.observation.any()
    assert not batch.mask.any()
    assert (batch.legal != 0).all()


# ---------------------------------------------------------------- shapes and numbers


EMPTY = "[[0], [0, 1]]"
WIDE = np.zeros(3, [(f"field_{i}", np.int8) for i in range(1000)])
NO_STREAMS = "Random streams are (3,) uint64, as prng.streams makes them, not "


def read_only() -> Any:
    draws = streams(1, 3)
    draws.flags.writeable = False
    return draws


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda b: b.step([0, 0]), IllegalActionError, "Expected one action a table, shape (3,), not (2,)."),
        (lambda b: b.step(0), IllegalActionError, "Expected one action a table, shape (3,), not ()."),
        (lambda b: b.step([[0], [0, 1]]), IllegalActionError, f"Expected one action a table, not {EMPTY}."),
        (lambda b: b.step([0.0, 1.0, 2.0]), IllegalActionError, "Actions are whole numbers, not an array of float64."),
        (lambda b: b.step([True, True, True]), IllegalActionError, "Actions are whole numbers, not an array of bool."),
        (lambda b: b.step([0, 0, 0], np.array([0, 1])), IllegalActionError, "one action a table, shape (2,), not (3,)."),
        (lambda b: b.step([63, 63], np.array([2, 0])), IllegalActionError, "Action 63 (actions are 0 to 23) is not legal at"),
        (lambda b: b.step([0, 0], np.array([2, 2])), DealError, "Each table is named once, and 2 is named 2 times."),
        (lambda b: b.reset([2, 0, 1, 2]), DealError, "Each table is named once, and 2 is named 2 times."),
        (lambda b: b.set_tables([0, 0], b.tables[0]), DealError, "Each table is named once, and 0 is named 2 times."),
        (lambda b: b.reset([0, 99]), DealError, "Tables are 0 to 2; got 0 to 99."),
        (lambda b: b.reset(3, seeds=streams(0, 1)), DealError, "Tables are 0 to 2; got 3 to 3."),
        (lambda b: b.set_tables([-1], b.tables[0]), DealError, "Tables are 0 to 2; got -1 to -1."),
        (lambda b: b.redacted([3]), DealError, "Tables are 0 to 2; got 3 to 3."),
        (lambda b: b.omniscient([-1]), DealError, "Tables are 0 to 2; got -1 to -1."),
        (lambda b: b.reset(b.done), DealError, "Tables are named by whole numbers, not by an array of bool."),
        (lambda b: b.reset([0.0, 1.7]), DealError, "Tables are named by whole numbers, not by an array of float64."),
        (lambda b: b.reset([[0, 1]]), DealError, "Tables are named by their numbers in a row, not in shape (1, 2)."),
        (lambda b: b.reset([[0], [0, 1]]), DealError, f"Tables are named by their numbers in a row, not by {EMPTY}."),
        (lambda b: b.reset([0, 1], seeds=streams(0, 3)), DealError, "2 tables are reset, so seeds has shape (2,), not (3,)."),
        (lambda b: b.reset(seeds=[[0], [0, 1]]), DealError, f"Expected one seed a table, not {EMPTY}."),
        (lambda b: b.reset([0, 1], seeds=[0.0, 1.0]), DealError, f"Seeds are whole numbers from 0 to {MAX_SEED}, not [0.0, "),
        (lambda b: b.reset([0, 1], seeds=[-1, 5]), DealError, f"Seeds are whole numbers from 0 to {MAX_SEED}, not [-1, 5]."),
        (lambda b: b.reset([0], seeds=[2**64]), DealError, f"Seeds are whole numbers from 0 to {MAX_SEED}, not [{2**64}]."),
        (lambda b: b.reset([0], seeds=[True]), DealError, f"Seeds are whole numbers from 0 to {MAX_SEED}, not [True]."),
        (lambda b: b.reset(seed=-1), DealError, f"A seed is a whole number from 0 to {MAX_SEED}, not -1."),
        (lambda b: b.reset(carry=True), DealError, "only in a batch that is made with start='carried'."),
        (lambda b: b.set_start("fresh"), DealError, "The start of later matches is values by name, not 'fresh'."),
        (lambda b: b.set_start({"pots": [1]}), DealError, "start['pots'] has shape (5,) or (3, 5), not (1,)."),
        (lambda b: b.set_tables(0, "table"), DealError, "set to records of the game's table, not an array of <U5."),
        (lambda b: b.set_tables(0, b.tables.view(np.uint8)), DealError, "records of the game's table, not an array of uint8."),
        (lambda b: b.set_tables(None, [[0], [0, 1]]), DealError, f"are set to records of the game's table, not to {EMPTY}."),
        (lambda b: b.set_tables(None, b.tables[:2]), DealError, "3 tables are set, by one record or as many, not by shape (2,)."),
        (lambda b: b.set_tables(None, b.tables[None]), DealError, "by one record or as many, not by shape (1, 3)."),
        (lambda b: b.observe([0, 1, 4]), DealError, "Seats are 0 to 3; got 0 to 4."),
        (lambda b: b.observe(-1), DealError, "Seats are 0 to 3; got -1 to -1."),
        (lambda b: b.observe(2**64 - 1), DealError, f"Seats are 0 to 3; got {2**64 - 1} to {2**64 - 1}."),
        (lambda b: b.observe(1.7), DealError, "Seats are whole numbers, not an array of float64."),
        (lambda b: b.observe([0, 1]), DealError, "Expected one seat, or one a table, shape (3,), not (2,)."),
        (lambda b: b.observe([[0, 1, 2]]), DealError, "Expected one seat, or one a table, shape (3,), not (1, 3)."),
        (lambda b: b.observe([[0], [0, 1]]), DealError, f"Expected one seat, or one a table, not {EMPTY}."),
        (lambda b: b.sample([1, 2, 3]), DealError, f"{NO_STREAMS}list."),
        (lambda b: b.sample(streams(1, 2)), DealError, f"{NO_STREAMS}uint64 of shape (2,)."),
        (lambda b: b.sample(np.zeros(3, np.int64)), DealError, f"{NO_STREAMS}int64 of shape (3,)."),
        (lambda b: b.play_out(streams(1, 6).reshape(3, 2)), DealError, f"{NO_STREAMS}uint64 of shape (3, 2)."),
        (lambda b: b.sample(read_only()), DealError, "Random streams advance in place, and this array cannot be written: "),
        (lambda b: b.play_out(read_only()), DealError, "Random streams advance in place, and this array cannot be written: "),
        (lambda b: b.restore(None), DealError, "A batch restores what save() returned, not None."),
        (lambda b: b.restore(list(b.save())), DealError, "A batch restores what save() returned, not ['tables', "),
        (lambda b: b.restore(make(num_tables=1).save()), DealError, "of shape (3,), not "),
        (lambda b: b.restore({**b.save(), "done": [[0], [0, 1]]}), DealError, f"expected 'done' to be an array, not {EMPTY}."),
        (lambda b: b.restore({**b.save(), "done": np.zeros(3, int)}), DealError, "expected 'done' to be dtype('bool') of shape "),
        (lambda b: b.restore({**b.save(), "tables": WIDE}), DealError, "a state of its own: expected 'tables' to be "),
    ],
)
def test_calls_that_do_not_fit_are_refused_in_a_sentence_and_change_nothing(call: Any, error: Any, sentence: str) -> None:
    batch = make(seed=3)
    before = batch.save()
    with pytest.raises(error, match=re.escape(sentence)) as refused:
        call(batch)
    assert len(str(refused.value)) < 700
    assert all(payload.tobytes() == batch.save()[name].tobytes() for name, payload in before.items())


def test_a_table_may_be_read_twice() -> None:
    assert make().observe(0, [2, 0, 2]).shape[0] == 3


def test_a_table_that_nothing_was_dealt_at_takes_no_action() -> None:
    batch = Batch(SETUP, 2, deal=False)
    batch.reset([0], seed=1)
    with pytest.raises(IllegalActionError, match=r"^No episode has begun at table 1: call reset\(\) first\.$"):
        batch.step(batch.sample(streams(1, 2)))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_of_any_whole_kind_are_taken(kind: Any) -> None:
    batch, other = make(), make()
    actions = batch.sample(streams(0, 3))
    batch.step(actions)
    other.step(np.repeat(actions, 2).astype(kind)[::2])
    assert batch.tables.tobytes() == other.tables.tobytes()


def test_no_tables_are_fine() -> None:
    batch = make()
    assert batch.redacted([]).shape == (0,)
    before = batch.tables.tobytes()
    batch.reset([])
    assert batch.tables.tobytes() == before


def test_without_a_seed_every_table_has_a_deal_of_its_own() -> None:
    batches = [make(seed=None, num_tables=8) for _ in range(2)]
    states = np.concatenate([batch.tables["rng"] for batch in batches])
    assert np.unique(states).size == 16
    assert len({batch.tables[i]["hand"].tobytes() for batch in batches for i in range(8)}) == 16
    assert make(seed=batches[0].seed, num_tables=8).tables.tobytes() == batches[0].tables.tobytes()


def test_tables_that_do_not_fit_in_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(batch_module, "new_arrays", too_much)
    with pytest.raises(DealError, match=r"^3 tables do not fit in memory\.$"):
        make()


@pytest.mark.parametrize(
    ("game", "field", "value", "says"),
    [
        ("nain_jaune", "seat", 7, r"^Table 1 of the 3 given cannot occur: expected a seat from 0 to 2; "),
        ("batasaurus", "leader", 9, r"^Table 1 of the 3 given cannot occur: .* its field 'leader' is 9\.$"),
    ],
)
def test_tables_that_are_not_safe_to_step_are_not_restored(game: str, field: str, value: Any, says: str) -> None:
    batch = Batch(make_setup(game, players=3), 3, seed=2, autoreset=False)
    batch.step(batch.sample(streams(1, 3)))
    saved = batch.save()
    altered = saved["tables"].copy()
    altered[field][1] = value
    batch.step(batch.sample(streams(2, 3)))
    now = batch.save()
    with pytest.raises(DealError, match=says):
        batch.restore({**saved, "tables": altered})
    assert all(array.tobytes() == batch.save()[key].tobytes() for key, array in now.items())
    batch.restore(saved)
    assert all(array.tobytes() == batch.save()[key].tobytes() for key, array in saved.items())


def test_what_tables_imply_is_computed_again_where_they_are_restored() -> None:
    batch, draws = Batch(make_setup("nain_jaune", players=3), 3, seed=2, autoreset=False), streams(1, 3)
    batch.step(batch.sample(draws))
    saved = batch.save()
    implied = ("legal", "observation", "mask", "done")
    batch.restore({**saved, **{name: np.ones_like(saved[name]) for name in implied}, "deals": np.zeros(3, np.int64)})
    assert all(array.tobytes() == batch.save()[name].tobytes() for name, array in saved.items())


def test_a_table_at_a_forced_ply_is_not_restored() -> None:
    setup = make_setup("nain_jaune", players=3)
    shown, batch = Batch(setup, 3, seed=2, skip_forced=False), Batch(setup, 3, seed=3)
    draws = streams(1, 3)
    while not (shown.mask.sum(axis=1) == 1).any():
        shown.step(shown.sample(draws))
    with pytest.raises(DealError, match="to be at a decision, or at the end of an episode"):
        batch.restore(shown.save())


def test_a_reset_takes_one_kind_of_seed() -> None:
    batch = Batch(make_setup(), 2, seed=1)
    before = batch.tables.tobytes()
    with pytest.raises(DealError, match="from 'seed' or from 'seeds', not from both"):
        batch.reset(seed=1, seeds=np.arange(2, dtype=np.uint64))
    assert batch.tables.tobytes() == before


def test_a_reset_goes_on_with_matches_where_they_are_not_over() -> None:
    """With the cards of the seeds, like the next round that autoreset deals from the table's own generator."""
    batch = make(start="carried", autoreset=False, skip_forced=False)
    draws = streams(1, 3)
    batch.play_out(draws)
    before = batch.tables.copy()
    batch.tables["stage"][2] = Stage.MATCH_OVER
    batch.reset(seeds=before["rng"], carry=True)
    other = make(start="carried", skip_forced=False)
    other.play_out(streams(1, 3))
    assert batch.tables[:2].tobytes() == other.tables[:2].tobytes()
    assert batch.tables["rounds"].tolist() == [2, 2, 1]
    assert (batch.tables["before"][:2] == before["stack"][:2]).all()
    batch.reset([0], seeds=streams(5, 1))
    assert batch.tables["rounds"].tolist() == [1, 2, 1]  # without carry a reset begins a new match


def test_start_values_of_later_matches_can_be_set() -> None:
    batch = make(autoreset=False, skip_forced=False)
    before = batch.tables.copy()
    batch.set_start({"pots": np.arange(15).reshape(3, 5)})
    assert batch.tables.tobytes() == before.tobytes()
    batch.reset(seed=0)
    expected = make(autoreset=False, skip_forced=False, start={"pots": np.arange(15).reshape(3, 5)})
    assert batch.tables.tobytes() == expected.tables.tobytes()


# ---------------------------------------------------------------- rounds begun


def test_deals_count_what_reset_begins() -> None:
    batch = make(autoreset=False)
    assert (batch.deals.dtype, batch.deals.tolist()) == (np.int64, [1, 1, 1])
    batch.reset()
    batch.reset([0, 2], seeds=streams(0, 2))
    batch.reset(2, seed=5)
    assert batch.deals.tolist() == [3, 2, 4]
    while not batch.done.all():
        batch.step(batch.sample(streams(0, 3)))
    assert batch.deals.tolist() == [3, 2, 4]  # where all are done nothing begins
    batch.step(batch.sample(streams(0, 3)))
    assert batch.deals.tolist() == [3, 2, 4]
    batch.reset(1)
    assert batch.deals.tolist() == [3, 3, 4]


def test_deals_count_every_round_of_a_match() -> None:
    """Two rounds each, then the next match: ``rounds`` of the table is 1 or 2, and the deal is odd or even with it."""
    batch = Batch(make_setup("nain_jaune", "classic", 3, max_rounds=2), 6, seed=4, episode="match")
    draws, before, seen = streams(4, 6), batch.deals.copy(), set()
    for _ in range(300):
        rounds = batch.tables["rounds"].copy()
        assert (batch.deals % 2 == rounds % 2).all()
        batch.step(batch.sample(draws))
        begun = batch.tables["rounds"] != rounds
        assert (batch.deals - before == begun).all()
        assert batch.done[begun].tolist() == (rounds[begun] == 2).tolist()
        before = batch.deals.copy()
        seen |= set(before.tolist())
    assert seen >= {1, 2, 3, 4, 5}


def test_deals_count_tables_that_are_set() -> None:
    batch = make()
    batch.set_tables([0, 2], batch.tables[1])
    batch.set_tables(2, batch.tables[0])
    assert batch.deals.tolist() == [2, 1, 3]


# ---------------------------------------------------------------- deals


def deal(**change: Any) -> Any:
    hands = [list(DECK[12 * seat : 12 * seat + 12]) for seat in range(4)]
    for seat, hand in change.pop("hands", {}).items():
        hands[seat] = hand
    return setup_table(SETUP, hands, **{"dealer": 3, **change})


def test_a_deal_is_set_up() -> None:
    table = deal(stacks=[20, 30, 40, 50], pots=[1, 2, 3, 4, 5], rounds_before=6)
    assert table.stack[:4].tolist() == [5, 15, 25, 35]
    assert table.pot.tolist() == [5, 10, 15, 20, 25]
    assert (table.seat, table.rounds) == (0, 7)
    assert sorted(table.deck.tolist()) == list(range(52))


def test_a_deal_is_set_up_from_numpys_numbers_too() -> None:
    numbers = {"stacks": [20, 30, 40, 50], "pots": [1, 2, 3, 4, 5]}
    table = deal(dealer=np.int8(3), seed=np.uint64(2**64 - 1), **{name: np.array(row) for name, row in numbers.items()})
    assert table == deal(seed=2**64 - 1, **numbers)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hands": {0: []}}, "With 4 players there are 4 hands of 12 cards, not [0, 12, 12, 12]."),
        ({"hands": {1: list(DECK[:12])}}, "The deal is no deck: 2c, 2d, 2h, 2s, 3c, 3d, 3h, 3s, "),
        ({"hands": {1: ["1s", *DECK[13:24]]}}, "The deal is no deck: '1s' is no card: expected a rank of A2345"),
        ({"hands": {1: [7, *DECK[13:24]]}}, "7 is no card"),
        ({"dealer": 4}, "The dealer is a seat from 0 to 3, not 4."),
        ({"dealer": -1}, "The dealer is a seat from 0 to 3, not -1."),
        ({"stacks": [49] * 3}, "Expected 4 stacks and 5 pots, not 3 and 5."),
        ({"pots": [0] * 4}, "Expected 4 stacks and 5 pots, not 4 and 4."),
        ({"dealer": 1.7}, "The dealer is a whole number, not 1.7."),
        ({"dealer": True}, "The dealer is a whole number, not True."),
        ({"stacks": [49, 49, 49.9, 49]}, "Each of the stacks is a whole number, not 49.9."),
        ({"stacks": ["49"] * 4}, "Each of the stacks is a whole number, not '49'."),
        ({"pots": [1.5] * 5}, "Each of the pots is a whole number, not 1.5."),
        ({"rounds_before": 1.5}, "The number of rounds before is a whole number, not 1.5."),
        ({"rounds_before": -1}, "The number of rounds before is from 0 to 1000000, not -1."),
        ({"seed": 1.5}, "The seed is a whole number, not 1.5."),
        ({"seed": -1}, "The seed is from 0 to 18446744073709551615, not -1."),
        ({"pots": [0, 0, 0, 0, -1]}, "A pot holds from 0 to 268435456 chips, not [0, 0, 0, 0, -1]."),
        ({"stacks": [49, 49, 49, 14]}, "Every seat must be able to ante 15 chips, and the stacks are [49, 49, 49, 14]."),
        ({"stacks": [1 << 48] * 4}, "Stacks stay within 2**48 chips"),
    ],
)
def test_a_deal_that_cannot_be_is_refused_in_a_sentence(change: Any, sentence: str) -> None:
    with pytest.raises(DealError) as refused:
        deal(**change)
    assert sentence in str(refused.value)


# ---------------------------------------------------------------- some tables only


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("autoreset", [True, False])
def test_stepping_some_tables_is_stepping_all_of_them_in_turn(game: str, autoreset: bool) -> None:
    """And leaves all others as they are, their rewards too."""
    setup = make_setup(game)
    whole, parts = (Batch(setup, 5, seed=3, autoreset=autoreset) for _ in range(2))
    draws = streams(4, 5)
    for _ in range(60):
        actions = whole.sample(draws)
        whole.step(actions)
        for which in ([4, 1], [], [0], [2, 3]):
            before = parts.save()
            parts.step(actions[which], np.array(which, np.int64))
            others = [i for i in range(5) if i not in which]
            for name, kept in before.items():
                assert np.array_equal(parts.save()[name][others], kept[others]), name
        for name, payload in whole.save().items():
            assert payload.tobytes() == parts.save()[name].tobytes(), name
    assert whole.deals.max() > 1 or not autoreset


def test_observing_some_tables() -> None:
    batch = make(seed=3, num_tables=4)
    everyone = batch.observe([0, 1, 2, 3])
    assert np.array_equal(batch.observe([2, 0], [2, 0]), everyone[[2, 0]])
    assert np.array_equal(batch.observe(3, [3]), everyone[[3]])
    assert batch.observe(0, []).shape == (0, batch.layout.size)


# ---------------------------------------------------------------- threads


def test_a_reset_skips_episodes_without_a_decision_as_a_step_does() -> None:
    setup = make_setup("nain_jaune", "skip", 8, hand=2)
    assert Batch(setup, 200, seed=1, autoreset=False).done.any()  # such a deal is an episode, where tables rest
    batch = Batch(setup, 200, seed=1)
    assert not batch.done.any()
    random = streams(2, 200)
    for _ in range(20):
        assert (batch.legal != 0).all()
        batch.step(batch.sample(random))


def test_rules_under_which_no_episode_has_a_decision_do_not_hang_a_reset() -> None:
    batch = Batch(make_setup("nain_jaune", "skip", 2, hand=1), 2)
    assert batch.done.all()
    assert (batch.legal == 0).all()


@pytest.mark.parametrize("given", ["djeco", None, 3])
def test_what_is_no_setup_is_a_sentence(given: object) -> None:
    with pytest.raises(RulesError, match=r"Expected the rules of a table as make_setup\(\) returns them, not"):
        Batch(given, 4)  # type: ignore[arg-type]
