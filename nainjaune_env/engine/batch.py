"""``Batch``: many tables of one game, stepped together by compiled code."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.compiler.ahead import bind, check_compiler, open_library
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.errors import DealError, DeviceError, IllegalActionError, quoted, unknown_name_message
from nainjaune_env.core.illegal import legal_names, why_illegal
from nainjaune_env.core.prng import entropy, streams
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.validation import MAX_SEED, MAX_THREADS, as_array, check_flag, check_name, check_seed, whole
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.log import PlyLog
from nainjaune_env.engine.log_arrays import LogArrays
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.saved_state import check_arrays, checked_state
from nainjaune_env.engine.start_values import Start, parse_start
from nainjaune_env.engine.table_arrays import TableArrays, new_arrays
from nainjaune_env.engine.undo import undo
from nainjaune_env.engine.workers import MIN_TABLES_PLAYED_OUT, MIN_TABLES_SAMPLED, MIN_TABLES_STEPPED, Workers, worker_loops_of

Episode = Literal["round", "match"]

DEVICES = ("cpu", "cuda")
NOT_PICKLED = ("_loops", "_calls")
"""Attributes that a batch makes again where it is loaded from a pickle."""


class Batch:
    """``B`` tables of one game under one set of rules.

    Arrays are allocated once and updated in place by :meth:`reset` and :meth:`step`; copy what you keep.

    =============  =================  ===================================================================
    attribute      shape, dtype       meaning
    =============  =================  ===================================================================
    observation    (B, size) uint8    observations of the seats to act; ``layout`` names their features
    mask           (B, A) bool        their legal actions
    legal          (B,) int64         the same as bits, bit a = action a; 0 when done
    seat           (B,) int64         the seats to act (a new array at each access)
    reward         (B, n) int32       gains of all seats (in the game's unit) since the last ``step`` or ``reset``
    done           (B,) bool          whether an episode ended in the last call
    deals          (B,) int64         number of rounds begun at the table so far
    tables         (B,) record        the game states: clone by copying rows
    =============  =================  ===================================================================

    The rewards of an episode sum to each seat's payoff. Antes of a round are part of the first reward after them. With
    ``autoreset`` (the default) a table whose episode ended is at once in the next one, with ``reward`` and ``done`` of the end;
    without it the table rests until :meth:`reset`. :func:`make_batch` makes batches on any device.
    """

    device = "cpu"
    """The device of the arrays."""

    def __init__(
        self,
        setup: Setup,
        num_tables: int,
        *,
        seed: int | None = 0,
        episode: Episode = "round",
        start: Start = "fresh",
        skip_forced: bool = True,
        autoreset: bool = True,
        observe: bool = True,
        threads: int = 1,
        log: bool = False,
        deal: bool = True,
    ) -> None:
        """Makes the tables and deals; with ``deal=False`` the first :meth:`reset` or :meth:`set_tables` does.

        ``start`` is the beginning of round episodes: ``"fresh"`` (the first round of a new match), ``"carried"`` (the next round
        of the match, with its pots, stacks and dealer), or start values of every new match, such as ``{"pots": [4, 0, 0, 0, 9]}``
        (one row for all tables or ``(B, k)``). With ``skip_forced`` plies without a choice are made automatically. With
        ``observe=False``, ``observation`` and ``mask`` are not written. ``threads``, for free processors, share the tables of a
        large step, draw or playout; results do not depend on their number. ``seed=None`` draws a seed, which the attribute
        ``seed`` then holds. With ``log=True`` (CPU) the attribute ``log`` holds how each episode began and the seat and action of
        each ply since, forced ones too (:class:`~nainjaune_env.engine.log.PlyLog`); else it is None. Records, histories for
        agents and :meth:`undo` read it.

        Raises :class:`RulesError` for match episodes without an end or a flag that is no bool, :class:`DealError` for an invalid
        number of tables, seed or start values, or for more tables than fit in memory, :class:`DeviceError` for an invalid number
        of threads, and :class:`~nainjaune_env.core.errors.MissingLibraryError` where no loops are compiled and numba is missing.
        """
        if JIT_ENABLED:
            check_compiler(open_library())
        self.setup = check_setup(setup)
        tables, workers = whole(num_tables), whole(threads)
        if tables is None or not 1 <= tables <= MAX_TABLES:
            raise DealError(f"A batch has at least 1 table, and at most {MAX_TABLES}, not {quoted(num_tables)}.")
        if workers is None or not 1 <= workers <= (MAX_THREADS if self.device == "cpu" else 1):
            given = f"got threads={quoted(threads)}"
            raise DeviceError(f"Tables are stepped by 1 to {MAX_THREADS} threads, on a GPU by just 1; {given}.")
        self.seed = entropy() if seed is None else check_seed(seed)
        if check_name("episode", episode, ("round", "match")) == "match":
            setup.game.check_match(setup.rules)
        self.game = setup.game
        self.layout = setup.layout
        self.num_tables = tables
        self.num_players = setup.players
        self.num_actions = len(self.game.actions)
        start_values, carry = parse_start(self.game, tables, start)
        self._threads = workers if JIT_ENABLED else 1  # plain Python would run one at a time
        self._workers: Workers | None = None
        self._options = EpisodeOptions(
            whole_match=int(episode == "match"),
            carry=int(carry),
            skip_forced=int(check_flag("skip_forced", skip_forced)),
            autoreset=int(check_flag("autoreset", autoreset)),
            observe=int(check_flag("observe", observe)),
        )
        if check_flag("log", log) and self.device != "cpu":
            raise DeviceError("A log of plies is kept on the CPU, not on a GPU.")
        self.numbers = numbers_of(setup, self._options)
        """The rules and options of episodes, packed for compiled loops."""
        try:
            self._set_arrays(TableArrays(*map(self.place, new_arrays(setup, tables, start_values))))
            self._all, self._actions = self.place(np.arange(tables)), np.zeros(tables, np.int64)
            self.log = PlyLog(setup, tables, keep_finished=autoreset) if log else None
        except MemoryError:
            raise DealError(f"{tables} tables do not fit in memory.") from None
        self._bind()
        if check_flag("deal", deal):
            self.reset(seed=self.seed)

    def _set_arrays(self, arrays: TableArrays) -> None:
        self.arrays = arrays
        """The arrays that compiled loops read and write; some of them are attributes too."""
        self.loop_arrays: tuple[NDArray[Any], ...] = tuple(arrays)
        """The same, as the loops take them."""
        self.tables: NDArray[Any] = arrays.tables
        self.legal: NDArray[np.int64] = arrays.legal
        self.observation: NDArray[np.uint8] = arrays.observation
        self.mask: NDArray[np.bool_] = arrays.mask
        self.reward: NDArray[np.int32] = arrays.reward
        self.deals: NDArray[np.int64] = arrays.deals
        self.done: NDArray[np.bool_] = arrays.done

    def _bind(self) -> None:
        self._loops = loops_of(self.setup)
        self._calls: dict[Callable[..., Any], Callable[..., Any]] = {}
        """The functions that :meth:`call` has called, bound to their arguments."""

    def __getstate__(self) -> dict[str, Any]:
        # modules and bound calls cannot be pickled: __setstate__ makes them again
        return {name: value for name, value in self.__dict__.items() if name not in NOT_PICKLED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns what a compiled function returns for ``arguments``.

        Where it was compiled ahead a call is quicker, as arguments that are the same objects as before are not converted again.
        """
        bound = self._calls.get(function)
        if bound is None:
            bound = self._calls[function] = bind(function, *arguments)
        return bound(*arguments)

    @property
    def log_arrays(self) -> LogArrays | None:
        """The log as an argument of compiled loops."""
        return None if self.log is None else self.log.arrays

    def run_loop(self, loop: Callable[..., None], *values: Any, start_values: NDArray[np.int32] | None = None) -> None:
        """Runs a compiled loop over tables of this batch, with ``start_values`` instead of its own, if given."""
        self.call(loop, self.arrays_with(start_values), self.numbers, self.log_arrays, *values)
        self.make_space()

    def arrays_with(self, start_values: NDArray[np.int32] | None) -> tuple[NDArray[Any], ...]:
        """Returns ``loop_arrays``, with ``start_values`` instead of the batch's, if given."""
        return self.loop_arrays if start_values is None else tuple(self.arrays._replace(start_values=start_values))

    def make_space(self) -> None:
        """Makes space in the log, if it is full; to be called after each compiled loop that makes plies."""
        if self.log is not None and self.log.ensure_space():
            self._workers = None  # they have the arrays from before

    def _worker_threads(self) -> Workers:
        """The threads of longer calls; a forked process has none of the threads of the process before it."""
        if self._workers is None or self._workers.forked:
            loops = worker_loops_of(self.setup)
            self._workers = Workers(loops, self._threads, self.arrays, self.numbers, self.log_arrays)
        return self._workers

    def place(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns ``array`` on the device of this batch: itself on the CPU, else a copy."""
        return array

    def fetch(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns an array of this batch as a NumPy array: itself on the CPU, else a copy."""
        return array

    def synchronize(self) -> None:
        """Waits for all queued work; does nothing on the CPU, where calls are synchronous."""

    @property
    def options(self) -> EpisodeOptions:
        """The options of episodes."""
        return self._options

    @property
    def start_values(self) -> NDArray[np.int32]:
        """The start values of the next match at each table, ``(B, k)``."""
        return self.arrays.start_values

    @property
    def seat(self) -> NDArray[np.int64]:
        """The seat to act at every table, ``(B,)``."""
        return self.tables["seat"].astype(np.int64)

    def reset(
        self,
        which: ArrayLike | None = None,
        *,
        seed: int | None = None,
        seeds: NDArray[np.uint64] | None = None,
        carry: bool = False,
    ) -> None:
        """Begins new matches at the tables ``which`` (indices without duplicates; None: all).

        ``seeds (K,) uint64`` are the new states of their generators: equal states give equal deals. ``seed`` derives them
        (``prng.streams``). With neither, the generators keep their states. ``carry`` deals the next round of a table's match
        instead, where that is not over. Raises :class:`DealError` for ``carry`` without ``start="carried"``, ``seed`` beside
        ``seeds``, or invalid values.
        """
        if seed is not None and seeds is not None:
            raise DealError("Tables are dealt from 'seed' or from 'seeds', not from both.")
        index = self._distinct(which)
        new_match = self._new_match(carry)
        if seeds is not None:
            states = self._states(seeds, index.size)
        else:
            states = self.tables["rng"][index] if seed is None else streams(seed, self.num_tables)[index]
        self.run_loop(self._loops.reset_tables, index, states, new_match)

    def _new_match(self, carry: bool) -> bool:
        if carry and not self._options.carry:
            raise DealError("Tables go on with their matches only in a batch that is made with start='carried'.")
        return not carry

    def set_start(self, start: object) -> None:
        """Sets the start values of matches that begin from now on; ``start`` is values by name, as the class takes them.

        Raises :class:`DealError` for values that do not fit.
        """
        if not isinstance(start, Mapping):
            raise DealError(f"The start of later matches is values by name, not {quoted(start)}.")
        values, _ = parse_start(self.game, self.num_tables, start)
        self._set_arrays(self.arrays._replace(start_values=self.place(values)))
        self._workers = None  # they have the values from before

    def _states(self, seeds: ArrayLike, count: int) -> NDArray[np.uint64]:
        given = as_array("Expected one seed a table, not", seeds)
        if given.shape != (count,):
            raise DealError(f"{count} tables are reset, so seeds has shape ({count},), not {given.shape}.")
        if given.size and (given.dtype.kind not in "iu" or given.min() < 0):
            raise DealError(f"Seeds are whole numbers from 0 to {MAX_SEED}, not {quoted(given.tolist())}.")
        return given.astype(np.uint64)

    def indices(self, which: ArrayLike | None) -> NDArray[np.int64]:
        """Returns the tables ``which`` (a number or several; None: all) as an array ``(K,)``.

        Raises :class:`DealError` for invalid indices, which compiled code does not check.
        """
        if which is None:
            return np.arange(self.num_tables)
        index = np.atleast_1d(as_array("Tables are named by their numbers in a row, not by", which))
        if index.size and index.dtype.kind not in "iu":
            raise DealError(f"Tables are named by whole numbers, not by an array of {index.dtype}.")
        if index.ndim != 1:
            raise DealError(f"Tables are named by their numbers in a row, not in shape {index.shape}.")
        if index.size and not 0 <= index.min() <= index.max() < self.num_tables:
            raise DealError(f"Tables are 0 to {self.num_tables - 1}; got {index.min()} to {index.max()}.")
        return index.astype(np.int64)

    def _distinct(self, which: ArrayLike | None) -> NDArray[np.int64]:
        """Returns :meth:`indices`; raises :class:`DealError` for a table that is named twice."""
        index = self.indices(which)
        # most callers name tables in ascending order, which is quickly seen
        if which is not None and not (index[1:] > index[:-1]).all():
            numbers, times = np.unique(index, return_counts=True)
            if numbers.size < index.size:
                raise DealError(f"Each table is named once, and {numbers[times > 1][0]} is named {times.max()} times.")
        return index

    def step(self, actions: ArrayLike, which: NDArray[np.int64] | None = None) -> None:
        """Takes one action at every table, integers ``(B,)``; at tables that are done the action is ignored.

        With ``which (K,)``, table indices without duplicates, it takes ``(K,)`` actions at these tables only; the others keep
        their ``reward``. At a table that is done no action is legal. Raises :class:`IllegalActionError`, which names the legal
        actions, and :class:`DealError` for invalid indices; then no table has changed.
        """
        index = self._all if which is None else self._distinct(which)
        chosen = self._whole_numbers(actions, index.size)
        if self._threads > 1 and index.size >= MIN_TABLES_STEPPED:
            wrong = int(self._loops.first_illegal(self.legal, self.done, self._options.autoreset, index, chosen))
            if wrong < 0:
                self._worker_threads().step(index, chosen)
        else:
            wrong = self.call(self._loops.step_legal, self.loop_arrays, self.numbers, self.log_arrays, index, chosen)
        if wrong >= 0:
            raise IllegalActionError(self.why_illegal(int(index[wrong]), int(chosen[wrong])))
        self.make_space()

    def _whole_numbers(self, actions: ArrayLike, count: int) -> NDArray[np.int64]:
        given = as_array("Expected one action a table, not", actions, IllegalActionError)
        if given.shape != (count,):
            raise IllegalActionError(f"Expected one action a table, shape ({count},), not {given.shape}.")
        if given.dtype.kind not in "iu":
            raise IllegalActionError(f"Actions are whole numbers, not an array of {given.dtype}.")
        if count != self.num_tables:
            return np.ascontiguousarray(given, np.int64)
        self._actions[:] = given  # into the same array at each call: a bound call has its address
        return self._actions

    def why_illegal(self, i: int, action: int) -> str:
        """Returns the error's sentence on ``action`` at table ``i``."""
        if not self.deals[i]:
            return f"No episode has begun at table {i}: call reset() first."
        where = f"table {i}, seat {int(self.seat[i])}"
        return why_illegal(action, int(self.legal[i]), self.game.actions, where)

    def legal_names(self, i: int) -> str:
        """Returns the numbers and names of the legal actions at table ``i``, as text."""
        return legal_names(int(self.legal[i]), self.game.actions)

    def sample(self, random_streams: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns uniformly random legal actions, ``(B,)``.

        ``random_streams (B,) uint64`` (see ``prng.streams``) advances in place. Raises :class:`DealError` for another array.
        """
        streams, actions = self._streams(random_streams), self._actions
        if self._threads > 1 and self.num_tables >= MIN_TABLES_SAMPLED and streams.flags.c_contiguous:
            self._worker_threads().sample(self._all, actions, streams)
        else:
            self.call(self._loops.choose_uniform, self.legal, streams, actions)
        return actions.copy()

    def play_out(self, random_streams: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Plays uniformly random legal actions to the end of every episode; returns the number of actions by table, ``(B,)``.

        Plays the same games as repeated calls of :meth:`sample` and :meth:`step`, in one compiled loop; ``reward`` is the total
        since the last call. Tables that are done are skipped. ``random_streams (B,) uint64`` advances in place; errors are as in
        :meth:`sample`.
        """
        streams, steps = self._streams(random_streams), np.zeros(self.num_tables, np.int64)
        if self.log is None:
            if self._threads > 1 and self.num_tables >= MIN_TABLES_PLAYED_OUT and streams.flags.c_contiguous:
                self._worker_threads().play_out(self._all, steps, streams)
            else:
                self.call(self._loops.play_out_tables, self.loop_arrays, self.numbers, None, self._all, streams, steps)
            return steps
        playing, reward = np.flatnonzero(self.legal), np.zeros_like(self.reward)
        while playing.size:  # step by step, as a compiled loop cannot make space for decisions
            rows, actions = streams[playing], np.empty(playing.size, np.int64)
            self._loops.choose_uniform(self.legal[playing], rows, actions)
            streams[playing] = rows  # not those of tables that are in their next episode
            self.step(actions, playing)
            reward[playing] += self.reward[playing]
            steps[playing] += 1
            playing = playing[~self.done[playing]]
        self.reward[:] = reward
        return steps

    def _streams(self, random_streams: NDArray[np.uint64]) -> NDArray[np.uint64]:
        array = isinstance(random_streams, np.ndarray)
        # not checked by compiled code
        if not array or random_streams.shape != (self.num_tables,) or random_streams.dtype != np.uint64:
            given = f"{random_streams.dtype} of shape {random_streams.shape}" if array else type(random_streams).__name__
            raise DealError(f"Random streams are ({self.num_tables},) uint64, as prng.streams makes them, not {given}.")
        if not random_streams.flags.writeable:
            raise DealError("Random streams advance in place, and this array cannot be written: pass a copy.")
        return random_streams

    def observe(self, seats: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Returns the observations ``(K, size) uint8`` of ``seats``, to act or not, at the tables ``which`` (None: all).

        ``seats`` is one seat for all these tables, or one for each, ``(K,)``. Raises :class:`DealError` if one does not exist.
        """
        index = self.indices(which)
        who = self._seats_of(seats, index.size)
        out = np.zeros((index.size, self.layout.size), np.uint8)
        self._loops.observe_tables(self.tables if which is None else self.tables[index], self.numbers, who, out)
        return out

    def _seats_of(self, seats: ArrayLike, count: int) -> NDArray[np.int64]:
        given = self._whole("seat", seats, count)
        if given.size and not 0 <= given.min() <= given.max() < self.num_players:
            raise DealError(f"Seats are 0 to {self.num_players - 1}; got {given.min()} to {given.max()}.")
        return np.ascontiguousarray(given, np.int64)

    def _whole(self, what: str, numbers: ArrayLike, count: int) -> NDArray[Any]:
        """Returns whole ``numbers``, one for all tables or ``(count,)``, as ``(count,)``; ``what`` is one of them in errors."""
        given = as_array(f"Expected one {what}, or one a table, not", numbers)
        if given.dtype.kind not in "iu":
            raise DealError(f"{what.capitalize()}s are whole numbers, not an array of {given.dtype}.")
        if given.shape not in ((), (count,)):
            raise DealError(f"Expected one {what}, or one a table, shape ({count},), not {given.shape}.")
        return np.broadcast_to(given, (count,))

    def omniscient(self, which: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Returns the observations of the seats to act followed by the private features of all other seats.

        For critics in training, never for agents. Of the tables ``which``: ``(K, layout.omniscient(n).size) uint8``.
        """
        index = self.indices(which)
        tables, seat = self.tables[index], self.seat[index]
        parts = []
        for rel in range(self.num_players):
            out = np.zeros((len(index), self.layout.size), np.uint8)
            self._loops.observe_tables(tables, self.numbers, (seat + rel) % self.num_players, out)
            parts.append(out if rel == 0 else out[:, self.layout.private])
        return np.concatenate(parts, axis=1)

    def redacted(self, which: ArrayLike | None = None) -> NDArray[Any]:
        """Returns copies ``(K,)`` of the tables ``which`` with only what the seat to act may know."""
        rows = self.tables[self.indices(which)]
        self._loops.redact_tables(rows, self.numbers, rows["seat"].astype(np.int64))
        return rows

    def save(self) -> dict[str, NDArray[Any]]:
        """Returns copies of the arrays that :meth:`restore` needs."""
        return {name: array.copy() for name, array in self._state().items()}

    def _state(self) -> dict[str, NDArray[Any]]:
        log = {} if self.log is None else {f"log_{name}": array for name, array in self.log.arrays._asdict().items()}
        return self.arrays.state() | log

    def restore(self, saved: Mapping[str, NDArray[Any]], *, trusted: bool = False) -> None:
        """Restores the state that :meth:`save` returned.

        What the tables imply, such as ``legal`` and ``observation``, is computed again. Raises :class:`DealError` for a state of
        another batch, in shape or dtype, for tables that are not safe to step, and for a log that does not lead to them; then
        nothing has changed. ``trusted=True`` takes all arrays as they are, for a state that this batch has saved and nobody has
        changed since.
        """
        state = self._checked(saved, trusted)
        for name, array in self.arrays.state().items():
            array[...] = state[name]
        if self.log is not None:
            self.log.arrays = LogArrays(*(state[f"log_{name}"].copy() for name in LogArrays._fields))
            self._workers = None  # they have the arrays from before

    def _checked(self, saved: object, trusted: bool) -> dict[str, NDArray[Any]]:
        state = check_arrays(saved, self._state(), growing=("log_plies",))
        return state if trusted else checked_state(self.setup, self._options, state)

    def set_tables(self, which: ArrayLike | None, rows: NDArray[Any], *, trusted: bool = False) -> None:
        """Sets the tables ``which`` to ``rows``: one record for all, or ``(K,)``; see the game's ``setup_table``.

        Raises :class:`DealError` for rows that are not safe to step, which compiled code does not check; then no table has
        changed. ``trusted=True`` omits this check, for rows that came from a batch or a kernel and were not changed since.
        """
        index = self._distinct(which)
        given = self._records(rows, index.size)
        if not trusted:
            self.setup.check_tables(given)
        self.tables[index] = given
        if self.log is not None:
            self.log.begin(index, self.tables[index])
        self.run_loop(self._loops.enter_tables, index)

    def undo(self, which: ArrayLike | None = None, *, to: ArrayLike | None = None) -> None:
        """Takes plies back at the tables ``which`` (None: all), by playing their episodes again from the log.

        ``to``, one number or ``(K,)``, is how many plies of the episode stay; forced plies after them are made again. None takes
        back the last decision and what followed it. Nothing has then been gained since the last reward: ``reward`` is 0.
        Raises :class:`DealError`, and changes nothing, for a batch without a log, for a table without such plies in its episode,
        and where chance has acted since, such as by the deal of a later round.
        """
        if self.log is None:
            raise DealError("Plies are taken back by the log of a batch: make it with log=True.")
        index = self._distinct(which)
        idle = index[self.deals[index] == 0]
        if idle.size:
            raise DealError(f"At table {idle[0]} no episode has begun.")
        stays = None if to is None else self._whole("count", to, index.size)
        undone = undo(self.setup, self._options, self.log.rows(index), index, self.tables[index], stays)
        undone.arrays.reward[:] = 0
        undone.arrays.deals[:] = self.deals[index]
        state = undone.arrays.state()
        for name, array in self.arrays.state().items():
            array[index] = state[name]
        self.log.set_rows(index, undone.log)

    def _records(self, rows: NDArray[Any], count: int) -> NDArray[Any]:
        given = as_array("Tables are set to records of the game's table, not to", rows)
        if given.dtype != self.game.table:
            raise DealError(f"Tables are set to records of the game's table, not an array of {given.dtype}.")
        if given.shape not in ((), (count,)):
            raise DealError(f"{count} tables are set, by one record or as many, not by shape {given.shape}.")
        return given


def make_batch(setup: Setup, num_tables: int, *, device: str = "cpu", **options: Any) -> Batch:
    """Returns a batch on ``device``: a ``Batch`` on ``"cpu"``, a ``CudaBatch``, whose arrays lie on an NVIDIA GPU, on ``"cuda"``.

    ``options`` are as in the class. Raises :class:`DeviceError` for an unknown device, or where there is no GPU.
    """
    if device not in DEVICES:
        raise DeviceError(unknown_name_message("device", device, DEVICES))
    if device == "cpu":
        return Batch(setup, num_tables, **options)
    made: Batch = importlib.import_module("nainjaune_env.engine.cuda.batch").CudaBatch(setup, num_tables, **options)
    return made


MAX_TABLES = 1 << 28
