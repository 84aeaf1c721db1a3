"""API calls with odd arguments: a result or the library's error in a sentence; after an error nothing has changed."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.pettingzoo_aec import raw_env
from nainjaune_env.envs.pettingzoo_parallel import parallel_env
from nainjaune_env.registry import make_setup
from tests.support.recorded import KNOBS, WIDEST, setups

from .oracle import Fault, Fuzzer, refused

MAX_STEPS = 3000
"""More decisions than any round of these games has."""

HUGE = (2**31, 2**40, 2**62, 2**63, 2**64, 10**30, -(2**63), -(2**70))
ODD = (
    None, True, False, -1, 0.5, 1.0, float("nan"), float("inf"), "", "x", "1", b"1", [], [[]], [None], ["x"], {}, {"x": 1},
    object, (1, 2, 3),
)  # fmt: skip
junk = st.one_of(
    st.sampled_from(ODD),
    st.sampled_from(HUGE),
    st.integers(-3, 40),
    st.lists(st.one_of(st.integers(-3, 70), st.sampled_from((*HUGE, 0.5, None, True))), max_size=6),
    st.builds(
        lambda shape, kind, value: np.full(shape, value).astype(kind),
        st.sampled_from([(), (1,), (2,), (3,), (2, 2), (0,), (4, 1)]),
        st.sampled_from(["int64", "uint64", "int8", "float64", "bool", "str", "object", "complex128"]),
        st.integers(0, 9),
    ),
)
"""Arguments that fit nowhere, or somewhere else."""


def mostly(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Valid arguments, and :data:`junk` now and then."""
    return st.one_of(valid, valid, valid, junk)


any_setup = st.one_of(
    setups(), st.just(make_setup("signal_lamps")), st.just(make_setup("nain_jaune", "djeco", 2, hand=3, max_rounds=2))
)


def state(batch: Batch) -> bytes:
    """Returns everything that a call may change."""
    return b"".join(array.tobytes() for array in batch.save().values())


def unchanged(batch: Batch, call: Callable[[], Any], where: str) -> bool:
    """Calls; returns whether that went through. After an error the batch must be as before."""
    before = state(batch)
    if refused(call, where=where) is None:
        return True
    if state(batch) != before:
        raise Fault(f"{where}: refused, and the tables have changed")
    return False


# ---------------------------------------------------------------- the rules


def rules(data: st.DataObject) -> None:
    """Presets, seats and knobs."""
    game = data.draw(mostly(st.sampled_from(sorted(KNOBS))))
    known = game if isinstance(game, str) and game in KNOBS else "nain_jaune"
    names = [*KNOBS[known], "hand", "ranks", "suits", "direction", "x"]
    knobs = data.draw(st.dictionaries(st.sampled_from(names), st.one_of(junk, *KNOBS[known].values()), max_size=3))
    preset, players = data.draw(mostly(st.sampled_from([None, WIDEST[known]]))), data.draw(mostly(st.integers(2, 8)))
    made: list[Setup] = []
    where = f"make_setup({game!r}, {preset!r}, {players!r}, **{knobs!r})"
    if refused(lambda: made.append(make_setup(game, preset, players, **knobs)), where=where) is None:
        batch = Batch(made[0], 1, seed=1, autoreset=False)
        batch.play_out(streams(1, 1, 1))


# ---------------------------------------------------------------- batches


def new_batch(data: st.DataObject, setup: Setup) -> Batch | None:
    """Makes a batch of odd arguments; None where it is refused."""
    size = st.integers(1, 4)
    start_values: dict[str, int] = dict(setup.game.start_values or {})
    values = st.fixed_dictionaries(
        {}, optional={n: mostly(st.lists(st.integers(0, 99), min_size=k, max_size=k)) for n, k in start_values.items()}
    )
    options = {
        "seed": data.draw(mostly(st.one_of(st.none(), st.integers(0, 2**64 - 1)))),
        "episode": data.draw(mostly(st.sampled_from(["round", "match"]))),
        "start": data.draw(st.one_of(st.just("fresh"), mostly(st.sampled_from(["fresh", "carried"])), values)),
        "threads": data.draw(mostly(st.just(1))),
        "skip_forced": data.draw(st.booleans()),
        "autoreset": data.draw(st.booleans()),
    }
    tables = data.draw(st.one_of(size, size, size, st.sampled_from([*ODD, *HUGE, 0])))
    hypothesis.assume(not (type(options["threads"]) is int and 8 < options["threads"] < 1000))
    made: list[Batch] = []
    refused(lambda: made.append(Batch(setup, tables, **options)), where=f"Batch({setup}, {tables!r}, **{options!r})")
    return made[0] if made else None


def batches(setup: Setup, data: st.DataObject) -> None:
    """A batch and calls on it."""
    batch = new_batch(data, setup)
    if batch is None:
        return
    tables = st.integers(0, batch.num_tables - 1)
    which = mostly(st.one_of(st.none(), tables, st.lists(tables, max_size=3)))
    for _ in range(data.draw(st.integers(1, 8))):
        call = data.draw(
            st.sampled_from(
                ["step", "step", "step", "step_some", "reset", "observe", "omniscient", "redacted", "sample", "play_out", "set"]
            )
        )
        drawn = [data.draw(which), data.draw(junk)]
        actions = batch.sample(streams(data.draw(st.integers(0, 99)), batch.num_tables, 5))
        given_actions = data.draw(mostly(st.just(actions)))
        where = f"{call} of Batch({setup}, {batch.num_tables}) with {drawn!r}, {given_actions!r}"
        calls: dict[str, Callable[[], Any]] = {
            "step": lambda given_actions=given_actions: batch.step(given_actions),
            "step_some": lambda drawn=drawn, given_actions=given_actions: batch.step(given_actions, drawn[0]),
            "reset": lambda drawn=drawn: batch.reset(drawn[0], seed=drawn[1]),
            "observe": lambda drawn=drawn: batch.observe(drawn[1], drawn[0]),
            "omniscient": lambda drawn=drawn: batch.omniscient(drawn[0]),
            "redacted": lambda drawn=drawn: batch.redacted(drawn[0]),
            "sample": lambda drawn=drawn: batch.sample(drawn[1]),
            "play_out": lambda drawn=drawn: batch.play_out(drawn[1]),
            "set": lambda drawn=drawn: batch.set_tables(drawn[0], drawn[1]),
        }
        unchanged(batch, calls[call], where)
        if (batch.legal[~batch.done if not batch._options.autoreset else slice(None)] == 0).any():
            raise Fault(f"after {where}: a table that is played at has no legal action")


# ---------------------------------------------------------------- tables from outside


def odd_table(data: st.DataObject, setup: Setup) -> np.ndarray[Any, Any]:
    """A table some steps into a round, with up to two fields altered."""
    batch, choices = Batch(setup, 1, seed=data.draw(st.integers(0, 2**32)), skip_forced=False), streams(1, 1, 7)
    for _ in range(data.draw(st.integers(0, 30))):
        batch.step(batch.sample(choices))
    table = batch.tables[:1].copy()
    for _ in range(data.draw(st.integers(0, 2))):
        name = data.draw(st.sampled_from(table.dtype.names))
        field = table[name].reshape(-1)
        place = data.draw(st.integers(0, field.size - 1))
        limits = np.iinfo(field.dtype)
        near = st.integers(max(limits.min, int(field[place]) - 2), min(limits.max, int(field[place]) + 2))
        bits = st.integers(0, limits.bits - 2).map(lambda bit, old=int(field[place]): old ^ 1 << bit)
        drawn = data.draw(
            st.one_of(near, bits, st.integers(limits.min, limits.max), st.sampled_from([limits.min, limits.max, 0]))
        )
        table[name].flat[place] = drawn
    return table


def chips(batch: Batch) -> int | None:
    """Returns the number of chips in stacks and pots, which no move changes; None in a game without chips."""
    names = batch.tables.dtype.names or ()
    return int(batch.tables["stack"].sum() + batch.tables["pot"].sum()) if "pot" in names else None


def play_to_end(batch: Batch, where: str) -> None:
    """Plays an episode at random, with what seats may know; raises :class:`Fault` where it has no end or loses chips."""
    before, choices = chips(batch), streams(3, 1, 7)
    for _ in range(MAX_STEPS):
        if batch.done[0]:
            break
        actions = batch.sample(choices)
        batch.observe(int(batch.seat[0]))
        drawn = determinize(batch.setup, batch.redacted(), np.zeros(1, np.int64), streams(5, 1, 7))
        if refused(lambda drawn=drawn: batch.setup.check_tables(drawn), where=where):
            raise Fault(f"{where}: taken, and a determinization is not")
        if refused(lambda actions=actions: batch.step(actions), where=where):
            raise Fault(f"{where}: taken, and none of its actions is legal")
    else:
        raise Fault(f"{where}: taken, and its round has no end")
    if chips(batch) != before:
        raise Fault(f"{where}: taken, and {before} chips become {chips(batch)}")


def tables(setup: Setup, data: st.DataObject) -> None:
    """``set_tables`` with altered tables."""
    table = odd_table(data, setup)
    batch = Batch(setup, 1, seed=0, autoreset=False, skip_forced=data.draw(st.booleans()))
    where = f"set_tables of {setup} with {table!r}"
    if unchanged(batch, lambda: batch.set_tables(0, table[0]), where):
        play_to_end(batch, where)


def saved_states(setup: Setup, data: st.DataObject) -> None:
    """``restore`` of a state with altered tables or other arrays."""
    options = {name: data.draw(st.booleans()) for name in ("skip_forced", "observe")}
    batch = Batch(setup, 1, seed=data.draw(st.integers(0, 99)), autoreset=False, **options)
    choices = streams(1, 1, 7)
    for _ in range(data.draw(st.integers(0, 30))):
        if not batch.done[0]:
            batch.step(batch.sample(choices))
    saved = batch.save()
    if data.draw(st.booleans()):
        saved["tables"] = odd_table(data, setup)
    for _ in range(data.draw(st.integers(0, 2))):
        name = data.draw(st.sampled_from(sorted(saved)))
        array = np.array(saved[name])
        if array.dtype.kind in "iub" and array.size:
            saved[name] = array
            array.flat[data.draw(st.integers(0, array.size - 1))] ^= array.dtype.type(1)
        elif data.draw(st.booleans()):
            saved[name] = data.draw(junk)
    batch.reset(seed=1)
    where = f"restore of {setup} with {saved!r}"
    if unchanged(batch, lambda: batch.restore(saved), where):
        play_to_end(batch, where)


# ---------------------------------------------------------------- environments

ENVIRONMENTS: dict[str, Callable[..., Any]] = {
    "SeatEnv": SeatEnv,
    "SeatVectorEnv": lambda *arguments, **options: SeatVectorEnv(2, *arguments, **options),
    "raw_env": raw_env,
    "parallel_env": parallel_env,
}


def environments(data: st.DataObject) -> None:
    """Constructors, resets and steps of the adaptors."""
    name = data.draw(st.sampled_from(sorted(ENVIRONMENTS)))
    game = data.draw(st.sampled_from(sorted(KNOBS)))
    seat = {
        "seat": mostly(st.sampled_from(["rotate", "random", 0, 1])),
        "opponents": mostly(st.just("random")),
        "illegal_reward": mostly(st.floats(-9, 9)),
    }
    common = {
        "episode": mostly(st.sampled_from(["round", "match"])),
        "start": mostly(st.sampled_from(["fresh", "carried"])),
        "render_mode": mostly(st.sampled_from([None, "ansi"])),
        "language": mostly(st.sampled_from(["en", "fr"])),
        "frameskip": st.just(4),
        **{knob: mostly(values) for knob, values in list(KNOBS[game].items())[:4]},
    }
    options = data.draw(st.fixed_dictionaries({}, optional=common if "Seat" not in name else {**common, **seat}))
    if data.draw(st.booleans()):
        options.pop("frameskip", None)
    preset, players = data.draw(mostly(st.just(WIDEST[game]))), data.draw(mostly(st.integers(2, 4)))
    where = f"{name}({preset!r}, {players!r}, **{options!r})"
    made: list[Any] = []

    def make() -> None:
        try:
            made.append(ENVIRONMENTS[name](preset, players, **options))
        except TypeError as error:  # Python's own, for a keyword that nobody knows
            if "unexpected keyword argument" not in str(error):
                raise

    refused(make, where=where)
    if made:
        with contextlib.closing(made[0]):
            use(data, made[0], where)


def use(data: st.DataObject, env: Any, where: str) -> None:
    """Resets and steps an environment with odd arguments."""
    setup: Setup = env.setup
    table = st.builds(lambda: odd_table(data, setup)[0])
    option = {
        "start": mostly(st.dictionaries(st.sampled_from(["pots", "stacks", "x"]), junk, max_size=2)),
        "table": mostly(table),
        "x": junk,
    }
    for _ in range(data.draw(st.integers(1, 5))):
        seed = data.draw(mostly(st.one_of(st.none(), st.integers(0, 2**64 - 1))))
        options = data.draw(st.one_of(st.none(), st.fixed_dictionaries({}, optional=option)))
        hypothesis.assume(not isinstance(seed, list | tuple | np.ndarray))  # one for each table, in a vector environment
        refused(
            lambda seed=seed, options=options: env.reset(seed=seed, options=options),
            where=f"reset({seed!r}, {options!r}) of {where}",
        )
        action = data.draw(junk)
        if hasattr(env, "action_space") and "Seat" in where and data.draw(st.booleans()):
            action = env.action_space.sample()
        refused(lambda action=action: env.step(action), where=f"step({action!r}) of {where}")


PROPERTIES: tuple[tuple[Callable[..., None], tuple[st.SearchStrategy[Any], ...]], ...] = (
    (rules, (st.data(),)),
    (batches, (any_setup, st.data())),
    (tables, (any_setup, st.data())),
    (saved_states, (any_setup, st.data())),
    (environments, (st.data(),)),
)


class Calls(Fuzzer):
    """Calls of the library; one case is some dozens of Hypothesis's examples."""

    name = "calls"
    short = 5
    long = 400
    examples = 15

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        if thorough:
            self.examples = 100

    def run(self, seed: int, number: int) -> None:
        self.property = PROPERTIES[number % len(PROPERTIES)]
        super().run(seed, number)

    def case(self, rng: random.Random) -> None:
        limits = settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=[*HealthCheck],
        )
        function, strategies = self.property
        limits(hypothesis.seed(rng.getrandbits(64))(given(*strategies)(function)))()
