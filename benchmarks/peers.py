"""The same work per step in other libraries: legal moves, a random choice, the move, the observation of the seat to act.

Each is used the quickest way that we found through its public interface. Nothing of this project is imported here: peers live in
an environment of their own (`make peers`), and `worker.py` runs them there. Every maker takes the tables at once and the threads
it may use, and gives what makes some steps and says how many. It raises ``ImportError`` where its library is missing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
from build_tripletriad import VERSION

Run = Callable[[], int]
"""Takes some steps and returns their number."""
STEPS = 500
"""Moves per call of a library that plays one game at a time."""
SEATS = 4
"""Number of players in a game that allows several."""


def calls_of(tables: int) -> int:
    """Returns the steps of a batch per call of a runner: some milliseconds, so that reading the clock costs little."""
    return max(1, min(1024, 16384 // tables))


def crazy_eights(tables: int, threads: int) -> Run:
    """OpenSpiel's ``crazy_eights``, in C++, from Python: observations are written into one buffer."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("crazy_eights", {"players": SEATS})
    observation = make_observation(game)
    choose = random.Random(0).choice
    state = game.new_initial_state()

    def run() -> int:
        nonlocal state
        made = 0
        while made < STEPS:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                state.apply_action(choose(state.legal_actions()))  # one deck, so every card is as likely
            else:
                observation.set_from(state, state.current_player())
                state.apply_action(choose(state.legal_actions()))
                made += 1
        return made

    return run


def uno(tables: int, threads: int) -> Run:
    """RLCard's ``uno``, in Python: every step returns the next observation and the legal moves."""
    import rlcard

    env = rlcard.make("uno", config={"seed": 0, "game_num_players": SEATS})
    choose = random.Random(0).choice
    state, _ = env.reset()

    def run() -> int:
        nonlocal state
        for _ in range(STEPS):
            if env.is_over():
                state, _ = env.reset()
            state, _ = env.step(choose(list(state["legal_actions"])))
        return STEPS

    return run


def leduc(tables: int, threads: int) -> Run:
    """PettingZoo's ``leduc_holdem_v4``, in Python: ``last`` returns observation and mask, ``step`` takes a move."""
    from pettingzoo.classic import leduc_holdem_v4

    return agent_iteration(leduc_holdem_v4.env())


def agent_iteration(env: Any) -> Run:
    """Random legal play through PettingZoo's AEC interface; a seat's dead step is not counted."""
    choose = random.Random(0).choice
    env.reset(seed=0)

    def run() -> int:
        made = 0
        while made < STEPS:
            if not env.agents:
                env.reset()
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                env.step(choose(observation["action_mask"].nonzero()[0].tolist()))
                made += 1
        return made

    return run


def pgx(game: str) -> Callable[[int, int], Run]:
    """One of Pgx's games on JAX's CPU: choice, step and its own automatic reset, all steps of a call in one compiled loop."""

    def make(tables: int, threads: int) -> Run:
        import jax
        import pgx as library
        from pgx.experimental import auto_reset

        env = library.make(game)
        step = jax.vmap(auto_reset(env.step, env.init))
        scanned = calls_of(tables)

        def one(carried: Any, _: None) -> tuple[Any, None]:
            state, key = carried
            key, action_key, step_keys = jax.random.split(key, 3)
            logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
            action = jax.random.categorical(action_key, logits, axis=-1)
            return (step(state, action, jax.random.split(step_keys, tables)), key), None

        many = jax.jit(lambda carried: jax.lax.scan(one, carried, None, length=scanned)[0], donate_argnums=0)
        begun = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), tables))
        carried = (begun, jax.random.PRNGKey(1))

        def run() -> int:
            nonlocal carried
            carried = many(carried)
            jax.block_until_ready(carried)
            return scanned * tables

        return run

    return make


def chooser() -> Callable[..., None]:
    """Returns a compiled uniform choice of actions, for libraries that step a batch and have none."""
    import numba

    @numba.njit
    def choose(legal: Any, streams: Any, actions: Any) -> None:
        """Draws an action that is True in each row of ``legal (B, A)`` from ``streams (B,) uint64`` into ``actions (B,)``."""
        for i in range(actions.size):
            streams[i] = streams[i] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            count = 0
            for a in range(legal.shape[1]):
                count += legal[i, a]
            skip = (streams[i] >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)
            for a in range(legal.shape[1]):
                if legal[i, a]:
                    if skip == 0:
                        actions[i] = a
                        break
                    skip -= np.uint64(1)

    return choose


def envpool(game: str) -> Callable[[int, int], Run]:
    """One of EnvPool's games, in C++, all tables in one synchronous step; a finished game takes one step to restart."""

    def make(tables: int, threads: int) -> Run:
        import envpool as library

        env = library.make_gymnasium(game, num_envs=tables, num_threads=threads, seed=0)
        choose, streams, actions = chooser(), np.arange(tables, dtype=np.uint64), np.zeros(tables, np.int32)
        _, info = env.reset()
        calls = calls_of(64 * tables)

        def run() -> int:
            nonlocal info
            for _ in range(calls):
                choose(info["legal_action_mask"], streams, actions)
                _, _, _, _, info = env.step(actions)
            return calls * tables

        return run

    return make


TRIAD_SIZES = {"width": 990, "height": 690, "card_width": 192, "card_height": 224}
"""Size of the window, which is never opened."""
HAND, SQUARES = 5, 9
"""Cards of a hand and squares of the board: an action of ``tripletriad`` picks a card or a square."""


def tripletriad(choose_legal: bool) -> Callable[[int, int], Run]:
    """PufferLib's ``tripletriad``, in C, by its own compiled binding (`make peers` builds it), into buffers bound once.

    The observation is 114 floats of the board and both hands. There is no mask of legal actions: those of the squares stand in
    the observation, those of the cards follow from it. A step in which a card is laid makes the opponent's move too, and a step
    after the end only deals. With ``choose_legal`` actions are legal, chosen by a compiled loop from the observation; without,
    they are any of the 14, drawn before, as in PufferLib's own measurement of speed: most such steps do nothing but write.
    """

    return lambda tables, threads: Triads(tables, choose_legal)


class Triads:
    """A batch of ``tripletriad``, and the buffers that its C code writes into."""

    def __init__(self, tables: int, choose_legal: bool) -> None:
        import tripletriad_binding as binding

        self.observations = np.zeros((tables, 114), np.float32)
        self.actions, self.rewards = np.zeros(tables, np.int32), np.zeros(tables, np.float32)
        self.terminals, self.truncations = np.zeros(tables, np.bool_), np.zeros(tables, np.bool_)
        buffers = (self.observations, self.actions, self.rewards, self.terminals, self.truncations)
        self.envs = binding.vec_init(*buffers, tables, 0, **TRIAD_SIZES)
        binding.vec_reset(self.envs, 0)
        self.step = binding.vec_step
        self.choose = triad_chooser() if choose_legal else None
        self.streams = np.arange(tables, dtype=np.uint64)
        self.random_actions = np.random.default_rng(0).integers(HAND + SQUARES, size=(64, tables), dtype=np.int32)

    def __call__(self) -> int:
        """Takes some steps and returns their number."""
        calls = calls_of(self.actions.size)
        for call in range(calls):
            if self.choose is None:
                self.actions[:] = self.random_actions[call % len(self.random_actions)]
            else:
                self.choose(self.observations, self.streams, self.actions)
            self.step(self.envs)
        return calls * self.actions.size


def triad_chooser() -> Callable[..., None]:
    """Returns a compiled uniform choice among the legal actions of ``tripletriad``, read from its observation."""
    import numba

    board, card_at, placed = 0, 24, 104  # where squares, the card in hand and the places of one's own cards begin

    @numba.njit
    def choose(observations: Any, streams: Any, actions: Any) -> None:
        for i in range(actions.size):
            streams[i] = streams[i] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            first, size, at = (HAND, SQUARES, board) if observations[i, card_at] >= 0 else (0, HAND, placed)
            count = 0
            for a in range(size):
                count += observations[i, at + a] == 0
            skip = (streams[i] >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)
            for a in range(size):
                if observations[i, at + a] == 0:
                    if skip == 0:
                        actions[i] = first + a
                        break
                    skip -= np.uint64(1)

    return choose


@dataclass(frozen=True)
class Peer:
    """A game of another library."""

    title: str
    package: str
    """The package whose version is reported."""
    make: Callable[[int, int], Run]
    threads: tuple[int, ...]
    """The numbers of threads that it can use itself."""
    most: int
    """The largest batch to time."""
    differs: str
    """How its step differs from ours."""


PEERS: dict[str, Peer] = {
    "crazy_eights": Peer(
        "OpenSpiel `crazy_eights` (C++ from Python)", "open_spiel", crazy_eights, (1,), 1,
        "four seats; one game at a time; chance moves are made and not counted",
    ),
    "uno": Peer("RLCard `uno` (Python)", "rlcard", uno, (1,), 1, "four seats; one game at a time"),
    "leduc": Peer(
        "PettingZoo `leduc_holdem_v4` (Python)", "pettingzoo", leduc, (1,), 1, "two seats, six cards; one game at a time",
    ),
    "pgx_leduc": Peer(
        "Pgx `leduc_holdem` (JAX's CPU)", "pgx", pgx("leduc_holdem"), (1, 2), 65536,
        "two seats, six cards; 34 booleans; its steps are one compiled loop, and ours calls from Python",
    ),
    "pgx_mahjong": Peer(
        "Pgx `sparrow_mahjong` (JAX's CPU)", "pgx", pgx("sparrow_mahjong"), (1, 2), 65536,
        "three seats; 165 booleans; its steps are one compiled loop, and ours calls from Python",
    ),
    "envpool_mahjong": Peer(
        "EnvPool `SparrowMahjong` (C++)", "envpool", envpool("SparrowMahjong-v1"), (1, 2), 4096,
        "three seats, all of whose observations are written, and the whole state; a compiled choice by us",
    ),
    "envpool_leduc": Peer(
        "EnvPool `LeducHoldem` (C++)", "envpool", envpool("LeducHoldem-v1"), (1, 2), 4096,
        "two seats, six cards, both of whose observations are written; a compiled choice by us",
    ),
    "tripletriad": Peer(
        "PufferLib `tripletriad` (C)", "pufferlib", tripletriad(choose_legal=True), (1,), 65536,
        "one seat against random moves that are made in its steps; 114 floats; a compiled choice by us",
    ),
    "tripletriad_any": Peer(
        "PufferLib `tripletriad`, any actions (C)", "pufferlib", tripletriad(choose_legal=False), (1,), 65536,
        "the same without a choice: actions drawn before, most of them illegal and ignored, as its own measurement has them",
    ),
}  # fmt: skip
"""Name on the command line -> peer."""


def make(case: dict[str, Any]) -> Run:
    """Returns the runner of a case of ``speed.py``."""
    return PEERS[case["name"]].make(case["tables"], case["threads"])


def versions() -> dict[str, str]:
    """Returns the versions of the installed peers, by their names on PyPI."""
    installed = {}
    for package in sorted({peer.package for peer in PEERS.values()} | {"jax", "numpy"}):
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            if package == "pufferlib":  # one game of it is compiled, and no package installed
                installed[package] = VERSION
    return installed
