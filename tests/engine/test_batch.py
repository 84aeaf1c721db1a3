"""What `Batch` and `make_setup` refuse, in sentences, and what they hand out; play itself is in `test_contract`."""

from __future__ import annotations

import copy
import pickle
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
    ("arguments", "knobs", "sentence"),
    [
        (("nain_jaun",), {}, "Unknown game 'nain_jaun'. Did you mean 'nain_jaune'? Valid: "),
        ((7,), {}, "Unknown game 7. Valid: "),
        (
            ("nain_jaune", "clasic"),
            {},
            "Unknown preset 'clasic'. Did you mean 'classic'? Valid: djeco, classic, skip, tableau.",
        ),
        (("nain_jaune", "djeco", 5), {}, "The preset 'djeco' is for 2 to 4 players, not 5."),
        (("nain_jaune", "classic", 2), {}, "The preset 'classic' is for 3 to 8 players, not 2."),
        (("nain_jaune", "skip", 9), {}, "The preset 'skip' is for 2 to 8 players, not 9."),
        (("nain_jaune", "skip", "4"), {}, "The preset 'skip' is for 2 to 8 players, not '4'."),
        (("nain_jaune", "skip", True), {}, "The preset 'skip' is for 2 to 8 players, not True."),
        (("nain_jaune", "skip", 4.0), {}, "The preset 'skip' is for 2 to 8 players, not 4.0."),
        (
            ("nain_jaune",),
            {"steak": 2},
            "Unknown argument or knob 'steak'. Did you mean 'stake'? Valid: game, preset, players, direction, ",
        ),
        (("classic",), {}, "'classic' is a preset, not a game: preset='classic' is enough."),
        (
            ("nain_jaune",),
            {"player": 3},
            "Unknown argument or knob 'player'. Did you mean 'players'? Valid: game, preset, players, direction, ",
        ),
        (("nain_jaune",), {"zzz": 2}, "Unknown argument or knob 'zzz'. Valid: game, preset, players, direction, "),
        (
            ("nain_jaune",),
            {"decline": "nevr"},
            "Unknown value for the knob 'decline': 'nevr'. Did you mean 'never'? Valid: never, entry, always.",
        ),
        (("nain_jaune",), {"stake": 0}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not 0."),
        (("nain_jaune",), {"stake": True}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not True."),
        (("nain_jaune",), {"stake": None}, f"The knob 'stake' is a whole number from 1 to {MAX_NUMBER}, not None."),
        (("nain_jaune",), {"unannounced": 1.5}, "not 1.5."),
        (("nain_jaune",), {"max_rounds": 0}, f"from 1 to {MAX_NUMBER} or None, not 0."),
        (("nain_jaune",), {"max_rounds": MAX_NUMBER + 1}, f"from 1 to {MAX_NUMBER} or None, not {MAX_NUMBER + 1}."),
        (("nain_jaune",), {"end_on_default": 1}, "The knob 'end_on_default' is True or False, not 1."),
        (("nain_jaune",), {"starting_stack": 14}, "must cover one round's antes, 15 chips at stake 1, and it is 14"),
    ],
)
def test_rules_that_cannot_be_are_refused_in_a_sentence(arguments: Any, knobs: Any, sentence: str) -> None:
    with pytest.raises(RulesError) as refused:
        make_setup(*arguments, **knobs)
    assert sentence in str(refused.value)
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
        ({"num_tables": -3}, DealError, "not -3"),
        ({"num_tables": 99999999999999}, DealError, "and at most 268435456, not 99999999999999."),
        ({"num_tables": 2.0}, DealError, "not 2.0."),
        ({"num_tables": "3"}, DealError, "not '3'."),
        ({"num_tables": None}, DealError, "not None."),
        ({"num_tables": float("nan")}, DealError, "not nan."),
        ({"threads": 99999999999}, DeviceError, "by 1 to 1024 threads, on a GPU by just 1; got threads=99999999999."),
        ({"threads": 1.5}, DeviceError, "got threads=1.5."),
        ({"threads": 0}, DeviceError, "got threads=0."),
        ({"seed": -1}, DealError, f"A seed is a whole number from 0 to {MAX_SEED}, not -1."),
        ({"seed": 2**64}, DealError, f"not {2**64}."),
        ({"seed": 1.0}, DealError, "not 1.0."),
        ({"seed": float("nan")}, DealError, "not nan."),
        ({"seed": "1"}, DealError, "not '1'."),
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
        ({"start": {"pots": [9]}}, DealError, "start['pots'] has shape (5,) or (3, 5), not (1,)."),
        ({"start": {"pots": [[9]] * 3}}, DealError, "start['pots'] has shape (5,) or (3, 5), not (3, 1)."),
        ({"start": {"pots": [[1], [1, 2]]}}, DealError, "start['pots'] is rows of one length, not [[1], [1, 2]]."),
        ({"start": {"pots": [1.9] * 5}}, DealError, "start['pots'] are whole numbers, not an array of float64."),
        ({"start": {"pots": [np.nan] * 5}}, DealError, "start['pots'] are whole numbers, not an array of float64."),
        ({"start": {"pots": ["3"] * 5}}, DealError, "start['pots'] are whole numbers, not an array of <U1."),
        ({"start": {"pots": [True] * 5}}, DealError, "start['pots'] are whole numbers, not an array of bool."),
        ({"start": {"pots": "x"}}, DealError, "start['pots'] has shape (5,) or (3, 5), not ()."),
        ({"start": {"pots": np.full(5, 2**64 - 1, np.uint64)}}, DealError, f"from 0 to {MAX_START_VALUE}; got {2**64 - 1} to "),
        ({"start": {"pots": [-1] * 5}}, DealError, f"Start values are from 0 to {MAX_START_VALUE}; got -1 to -1."),
        ({"start": {"pots": [0, 0, 0, 0, MAX_START_VALUE + 1]}}, DealError, f"got 0 to {MAX_START_VALUE + 1}."),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(options: Any, error: type, sentence: str) -> None:
    with pytest.raises(error) as refused:
        make(**options)
    assert sentence in str(refused.value)


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


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ([0, 0], "Expected one action a table, shape (3,), not (2,)."),
        (0, "Expected one action a table, shape (3,), not ()."),
        ([[0, 0, 0]], "Expected one action a table, shape (3,), not (1, 3)."),
        ([0.0, 1.0, 2.0], "Actions are whole numbers, not an array of float64."),
        ([True, True, True], "Actions are whole numbers, not an array of bool."),
        (["0", "1", "2"], "Actions are whole numbers, not an array of "),
    ],
)
def test_actions_of_another_shape_or_kind_are_refused(actions: Any, sentence: str) -> None:
    batch = make()
    before = batch.tables.tobytes()
    with pytest.raises(IllegalActionError) as refused:
        batch.step(actions)
    assert sentence in str(refused.value)
    assert batch.tables.tobytes() == before


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_of_any_whole_kind_are_taken(kind: Any) -> None:
    batch, other = make(), make()
    actions = batch.sample(streams(0, 3))
    batch.step(actions)
    other.step(np.repeat(actions, 2).astype(kind)[::2])
    assert batch.tables.tobytes() == other.tables.tobytes()


@pytest.mark.parametrize("which", [[3], [-1], [0, 99], 3])
@pytest.mark.parametrize("seeds", [False, True])
def test_tables_that_do_not_exist_are_refused(which: Any, seeds: bool) -> None:
    batch = make()
    before = batch.tables.tobytes()
    with pytest.raises(DealError, match=r"Tables are 0 to 2; got "):
        batch.reset(which, seeds=streams(0, np.size(which)) if seeds else None)
    with pytest.raises(DealError, match=r"Tables are 0 to 2; got "):
        batch.set_tables(which, batch.tables[0])
    assert batch.tables.tobytes() == before


@pytest.mark.parametrize("name", ["reset", "set_tables", "redacted", "omniscient"])
def test_tables_are_named_by_their_numbers_in_a_row(name: str) -> None:
    batch = make()

    def call(which: Any) -> None:
        getattr(batch, name)(which, *([batch.tables[0]] if name == "set_tables" else []))

    for which, sentence in [
        (batch.done, "not by an array of bool"),
        ([0.0, 1.7], "not by an array of float64"),
        (["0"], "not by an array of <U1"),
        ([[0, 1]], r"in a row, not in shape \(1, 2\)"),
        ([0, 3], "Tables are 0 to 2; got 0 to 3"),
        ([-1], "Tables are 0 to 2; got -1 to -1"),
    ]:
        before = batch.tables.tobytes()
        with pytest.raises(DealError, match=sentence):
            call(which)
        assert batch.tables.tobytes() == before


def test_rows_that_are_no_tables_are_refused() -> None:
    batch = make()
    before = batch.tables.tobytes()
    for rows, sentence in [
        (np.zeros(1, np.int64), r"Tables are set to records of the game's table, not an array of int64\."),
        ("table", r"Tables are set to records of the game's table, not an array of <U5\."),
        (batch.tables[:2].view(np.uint8), r"Tables are set to records of the game's table, not an array of uint8\."),
        (batch.tables[:2], r"3 tables are set, by one record or as many, not by shape \(2,\)\."),
        (batch.tables.reshape(1, 3), r"3 tables are set, by one record or as many, not by shape \(1, 3\)\."),
    ]:
        with pytest.raises(DealError, match=sentence):
            batch.set_tables([0, 1, 2], rows)
        assert batch.tables.tobytes() == before


def test_no_tables_are_fine() -> None:
    batch = make()
    assert batch.redacted([]).shape == (0,)
    before = batch.tables.tobytes()
    batch.reset([])
    assert batch.tables.tobytes() == before


@pytest.mark.parametrize(
    "seeds", [[0.0, 1.0], [-1, 5], [2**64, 1], [float("nan"), 0], ["0", "1"], [True, False]], ids=lambda seeds: repr(seeds[0])
)
def test_seeds_of_tables_that_are_no_states_are_refused(seeds: Any) -> None:
    batch = make()
    before = batch.tables.tobytes()
    with pytest.raises(DealError, match=rf"^Seeds are whole numbers from 0 to {MAX_SEED}, not \["):
        batch.reset([0, 1], seeds=seeds)
    with pytest.raises(DealError, match=r"^A seed is a whole number from 0 to "):
        batch.reset(seed=seeds[0])
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

    monkeypatch.setattr(Batch, "_allocate", too_much)
    with pytest.raises(DealError, match=r"^3 tables do not fit in memory\.$"):
        make()


@pytest.mark.parametrize("which", [[0, 0], [2, 0, 1, 2]])
def test_a_table_that_is_named_twice_is_refused(which: list[int]) -> None:
    """The second action was chosen for a state that is gone, and threads would write at the same time."""
    batch = make()
    before = batch.save()
    sentence = rf"^Each table is named once, and {which[0]} is named 2 times\.$"
    with pytest.raises(DealError, match=sentence):
        batch.step([int(batch.legal[i]).bit_length() - 1 for i in which], np.array(which))
    with pytest.raises(DealError, match=sentence):
        batch.reset(which)
    with pytest.raises(DealError, match=sentence):
        batch.set_tables(which, batch.tables[0])
    assert all(payload.tobytes() == batch.save()[name].tobytes() for name, payload in before.items())
    assert batch.observe(0, which).shape[0] == len(which)  # to read it twice is no error


def test_a_state_of_another_batch_is_not_restored() -> None:
    batch = make()
    before = batch.save()
    one = make(num_tables=1).save()
    with pytest.raises(DealError, match=r"expected 'tables' to be .* of shape \(3,\), not .* of shape \(1,\)\."):
        batch.restore(one)
    with pytest.raises(DealError, match=r"'done' to be dtype\('bool'\) of shape \(3,\), not dtype\('int64'\) of shape \(3,\)\."):
        batch.restore({**before, "done": np.zeros(3, np.int64)})
    with pytest.raises(DealError, match=r"expected 'tables' to be .{1,200} of shape \(3,\), not .{1,200} of shape \(3,\)\.$"):
        batch.restore({**before, "tables": np.zeros(3, [(f"field_{i}", np.int8) for i in range(1000)])})
    for bad in (None, 3, list(before), "x" * 10**6):
        with pytest.raises(DealError, match=r"^A batch restores what save\(\) returned, not .{1,200}\.$"):
            batch.restore(bad)  # type: ignore[arg-type]
    assert all(payload.tobytes() == batch.save()[name].tobytes() for name, payload in before.items())


def altered(saved: dict[str, Any], name: str, field: str | None, value: Any) -> dict[str, Any]:
    """A copy of a state with one value of table 1 altered."""
    array = saved[name].copy()
    (array if field is None else array[field])[1] = value
    return {**saved, name: array}


@pytest.mark.parametrize(
    ("game", "name", "field", "value", "says"),
    [
        (
            "nain_jaune",
            "tables",
            "seat",
            7,
            r"Table 1 of the 3 given cannot occur: expected a seat from 0 to 2; its field 'seat' is",
        ),
        ("batasaurus", "tables", "leader", 9, r"Table 1 of the 3 given cannot occur: .* its field 'leader' is 9\.$"),
        (
            "nain_jaune",
            "legal",
            None,
            1 << 40,
            r"of table 1, expected 'legal' to be the bits of the actions that the rules allow",
        ),
        ("nain_jaune", "legal", None, 0, r"of table 1, expected 'legal' to be the bits"),
        ("nain_jaune", "done", None, True, r"of table 1, expected 'done' to be whether the episode is over, not True\.$"),
        ("nain_jaune", "mask", None, True, r"of table 1, expected 'mask' to be the actions that the rules allow"),
        ("nain_jaune", "observation", None, 9, r"of table 1, expected 'observation' to be what the seat to act observes"),
        ("nain_jaune", "_credited", None, 5, r"of table 1, expected '_credited' to be the payoffs of the round so far"),
        (
            "nain_jaune",
            "deals",
            None,
            -1,
            r"of table 1, expected 'deals' to be the number of rounds begun, at least 1, not -1\.$",
        ),
    ],
)
def test_a_state_that_cannot_occur_is_not_restored(game: str, name: str, field: str | None, value: Any, says: str) -> None:
    batch = Batch(make_setup(game, players=3), 3, seed=2, autoreset=False)
    batch.step(batch.sample(streams(1, 3)))
    before = batch.save()
    batch.step(batch.sample(streams(2, 3)))
    now = batch.save()
    with pytest.raises(DealError, match=says):
        batch.restore(altered(before, name, field, value))
    assert all(array.tobytes() == batch.save()[key].tobytes() for key, array in now.items())
    batch.restore(before)
    assert all(array.tobytes() == batch.save()[key].tobytes() for key, array in before.items())


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus", "signal_lamps"])
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("start", ["fresh", "carried"])
def test_what_a_batch_saves_it_restores(game: str, episode: Any, skip_forced: bool, autoreset: bool, start: Any) -> None:
    batch = Batch(make_setup(game), 4, seed=3, episode=episode, start=start, skip_forced=skip_forced, autoreset=autoreset)
    draws = streams(5, 4)
    for _ in range(60):
        batch.restore(batch.save())
        batch.step(batch.sample(draws))
        if not autoreset and batch.done.all():
            batch.reset(carry=start == "carried")


def test_tables_named_by_lists_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(DealError, match=r"^Tables are named by their numbers in a row, not by \[\[0, 1\], \[2\]\]\.$"):
        make().reset([[0, 1], [2]])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda batch: batch.step([[0], [0, 1], [0]]),
            IllegalActionError,
            "Expected one action a table, not [[0], [0, 1], [0]].",
        ),
        (lambda batch: batch.observe([[0], [0, 1]]), DealError, "Expected one seat, or one a table, not [[0], [0, 1]]."),
        (lambda batch: batch.reset(seeds=[[1], []]), DealError, "Expected one seed a table, not [[1], []]."),
        (
            lambda batch: batch.set_tables(None, [[1], []]),
            DealError,
            "Tables are set to records of the game's table, not to [[1], []].",
        ),
        (
            lambda batch: batch.restore({**batch.save(), "done": [[1], []]}),
            DealError,
            "A batch restores a state of its own: expected 'done' to be an array, not [[1], []].",
        ),
    ],
    ids=["actions", "seats", "seeds", "tables", "state"],
)
def test_lists_of_unequal_lengths_are_refused(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=rf"^{re.escape(sentence)}$"):
        call(make())


@pytest.mark.parametrize("call", [Batch.sample, Batch.play_out])
def test_random_streams_that_cannot_be_written_are_refused(call: Any) -> None:
    draws = streams(1, 3)
    draws.flags.writeable = False
    with pytest.raises(DealError, match=r"^Random streams advance in place, and this array cannot be written: pass a copy\.$"):
        call(make(), draws)
    with pytest.raises(DealError, match=r"^Random streams are \(3,\) uint64, as prng\.streams makes them, not list\.$"):
        call(make(), [1, 2, 3])


def test_seeds_of_another_shape_are_refused() -> None:
    with pytest.raises(DealError, match=r"2 tables are reset, so seeds has shape \(2,\), not \(3,\)"):
        make().reset([0, 1], seeds=streams(0, 3))


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
    with pytest.raises(DealError, match="start='carried'"):
        make().reset(carry=True)


def test_start_values_of_later_matches_can_be_set() -> None:
    batch = make(autoreset=False, skip_forced=False)
    before = batch.tables.copy()
    batch.set_start({"pots": np.arange(15).reshape(3, 5)})
    assert batch.tables.tobytes() == before.tobytes()
    batch.reset(seed=0)
    expected = make(autoreset=False, skip_forced=False, start={"pots": np.arange(15).reshape(3, 5)})
    assert batch.tables.tobytes() == expected.tables.tobytes()
    for wrong in ("fresh", {"pot": [1]}, {"pots": [1]}, 3):
        with pytest.raises(DealError):
            batch.set_start(wrong)


@pytest.mark.parametrize("seats", [4, -1, [0, 1, 4]])
def test_seats_that_do_not_exist_are_refused(seats: Any) -> None:
    with pytest.raises(DealError, match="Seats are 0 to 3; got"):
        make().observe(seats)


def test_a_seat_of_64_bits_is_named_as_it_came() -> None:
    with pytest.raises(DealError, match=f"got {2**64 - 1} to {2**64 - 1}"):
        make().observe(2**64 - 1)


def test_a_table_that_nothing_was_dealt_at_takes_no_action() -> None:
    batch = Batch(make().setup, 2, deal=False)
    batch.reset([0], seed=1)
    with pytest.raises(IllegalActionError, match=r"^No episode has begun at table 1: call reset\(\) first\.$"):
        batch.step(batch.sample(streams(1, 2)))


@pytest.mark.parametrize(
    ("seats", "sentence"),
    [
        (1.7, "Seats are whole numbers, not an array of float64."),
        ("1", "Seats are whole numbers, not an array of <U1."),
        ([True, False, True], "Seats are whole numbers, not an array of bool."),
        ([0, 1], "Expected one seat, or one a table, shape (3,), not (2,)."),
        ([[0, 1, 2]], "Expected one seat, or one a table, shape (3,), not (1, 3)."),
    ],
)
def test_seats_of_another_shape_or_kind_are_refused(seats: Any, sentence: str) -> None:
    with pytest.raises(DealError) as refused:
        make().observe(seats)
    assert str(refused.value) == sentence


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


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("start", ["fresh", "carried"])
def test_deals_count_what_autoreset_begins(game: str, start: Any, skip_forced: bool) -> None:
    """One more at each end."""
    batch = Batch(make_setup(game), 5, seed=3, start=start, skip_forced=skip_forced)
    expected, draws, ends = np.ones(5, np.int64), streams(3, 5), 0
    for _ in range(400):
        batch.step(batch.sample(draws))
        ends += int(batch.done.sum())
        expected += batch.done
        assert batch.deals.tolist() == expected.tolist()
    assert ends >= 10


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


@pytest.mark.parametrize("game", game_names())
def test_batches_are_copied_and_pickled(game: str) -> None:
    batch = Batch(make_setup(game), 3, seed=2, start="carried")
    draws = streams(7, 3)
    for _ in range(40):
        batch.step(batch.sample(draws))
    others = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    for _ in range(40):
        actions = batch.sample(draws)
        before = batch.tables.tobytes()
        for other in others:
            other.step(actions)
        assert batch.tables.tobytes() == before
        batch.step(actions)
    for other in others:
        assert other.setup == batch.setup
        assert other.setup.game is batch.setup.game  # a game goes by its name
        assert all(kept.tobytes() == batch.save()[name].tobytes() for name, kept in other.save().items())


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
                assert np.array_equal(getattr(parts, name)[others], kept[others]), name
        for name, payload in whole.save().items():
            assert payload.tobytes() == getattr(parts, name).tobytes(), name
    assert whole.deals.max() > 1 or not autoreset


def test_an_illegal_action_at_some_tables_names_the_table_and_steps_none() -> None:
    batch = make(seed=3, num_tables=4)
    before = batch.save()
    with pytest.raises(IllegalActionError, match=r"Action 63 is not legal at table 2, seat"):
        batch.step([int(batch.legal[3]).bit_length() - 1, 63], np.array([3, 2]))
    with pytest.raises(IllegalActionError, match=r"one action a table, shape \(2,\), not \(3,\)"):
        batch.step([0, 0, 0], np.array([0, 1]))
    assert all(payload.tobytes() == getattr(batch, name).tobytes() for name, payload in before.items())


def test_observing_some_tables() -> None:
    batch = make(seed=3, num_tables=4)
    everyone = batch.observe([0, 1, 2, 3])
    assert np.array_equal(batch.observe([2, 0], [2, 0]), everyone[[2, 0]])
    assert np.array_equal(batch.observe(3, [3]), everyone[[3]])
    assert batch.observe(0, []).shape == (0, batch.layout.size)


@pytest.mark.parametrize("call", [Batch.sample, Batch.play_out])
@pytest.mark.parametrize(
    ("draws", "what"),
    [
        (streams(1, 3), r"uint64 of shape \(3,\)"),
        (streams(1, 4).astype(np.int64), "int64"),
        (streams(1, 8).reshape(4, 2), r"\(4, 2\)"),
    ],
)
def test_random_streams_that_do_not_fit_are_refused(call: Any, draws: Any, what: str) -> None:
    """Compiled code would read beyond their end, or draw otherwise."""
    batch = make(num_tables=4)
    before = batch.save()
    with pytest.raises(DealError, match=rf"Random streams are \(4,\) uint64, as prng\.streams makes them, not .*{what}"):
        call(batch, draws)
    assert all(payload.tobytes() == getattr(batch, name).tobytes() for name, payload in before.items())


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
