"""``Batch`` on an NVIDIA GPU."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.errors import DealError, DeviceError, IllegalActionError, unknown_name_message
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import loops_of
from nainjaune_env.engine.cuda.device import OnDevice, is_device_array
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.table_arrays import TableArrays


def kernels_of(setup: Setup, options: EpisodeOptions) -> ModuleType:
    """Returns ``nainjaune_env.engine.cuda.kernels`` compiled for one setup and these options."""
    about = repr((setup.kernel_rules, options))  # named tuples of integers, whose text is the same in every process
    return instantiate(
        "nainjaune_env.engine.cuda.kernels",
        f"{setup.game.name}-{hashlib.sha256(about.encode()).hexdigest()[:16]}",
        game=setup.game.kernel,
        loops=loops_of(setup),
        rules=setup.kernel_rules,
        options=options,
        SCRATCH=setup.players,
    )


class CudaBatch(OnDevice, Batch):
    """``B`` tables on a GPU; with the same seed the games are byte for byte as in :class:`~nainjaune_env.engine.batch.Batch`.

    Attributes and methods are as in ``Batch``, but all arrays are numba's device arrays.
    ``torch.as_tensor(batch.observation, device="cuda")`` shares the memory, and :meth:`fetch` returns a NumPy array. The results
    of ``seat``, ``sample``, ``play_out``, ``observe``, ``omniscient`` and ``redacted`` are overwritten by the next call of the
    same method: copy what you keep. Actions and ``which`` may be NumPy arrays, or ``(K,) int64`` on the device;
    ``random_streams`` of ``sample`` and ``play_out`` must be on the device (:meth:`place`).

    Work is queued and done in order. Checking actions waits for it: with ``checks="now"`` every :meth:`step` checks, and raises
    like ``Batch``. With ``checks="later"`` an illegal action turns later steps into no-ops, and :meth:`check`,
    :meth:`synchronize` and :meth:`save` raise.
    """

    device = "cuda"
    tables: Any
    legal: Any
    observation: Any
    mask: Any
    reward: Any
    done: Any
    deals: Any
    arrays: Any

    def __init__(
        self,
        setup: Setup,
        num_tables: int,
        *,
        checks: Literal["now", "later"] = "now",
        stream: int = 0,
        **options: Any,
    ) -> None:
        """Makes the tables and deals; ``options`` are as in ``Batch``.

        ``stream`` is the address of the CUDA stream for all work (``torch.cuda.Stream.cuda_stream``); 0 is the default stream,
        which is also torch's default.

        Raises what ``Batch`` raises, :class:`MissingLibraryError` without numba-cuda, and :class:`DeviceError` without a GPU.
        """
        if checks not in ("now", "later"):
            raise DeviceError(unknown_name_message("time of checks", checks, ("now", "later")))
        self._checks = checks
        self._open(stream)
        super().__init__(setup, num_tables, **options)

    def __getstate__(self) -> dict[str, Any]:
        self.check()
        left = ("_cuda", "_kernels", "stream", "_stream", "_buffers", "loop_arrays", *TableArrays._fields)
        state = {name: value for name, value in super().__getstate__().items() if name not in left}
        arrays = {name for name, value in state.items() if is_device_array(value)}
        state |= {name: self.fetch(state[name]) for name in arrays}
        return state | {"arrays": TableArrays(*map(self.fetch, self.arrays)), "_placed": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        placed = state.pop("_placed")
        super().__setstate__(state)
        self._open()  # the address of a stream is valid in its own process only
        for name in placed:
            setattr(self, name, self.place(state[name]))
        self._set_arrays(TableArrays(*map(self.place, state["arrays"])))

    @functools.cached_property
    def _kernels(self) -> ModuleType:  # type: ignore[override]
        return kernels_of(self.setup, self._options)

    @functools.cached_property
    def _fault(self) -> Any:
        return self.place(self._kernels.no_fault())

    def synchronize(self) -> None:
        """Waits for all queued work and raises its errors, as :meth:`check` does."""
        self.check()

    def check(self) -> None:
        """Waits for all queued work; steps are possible again after an error.

        Raises :class:`IllegalActionError` if an action since the last check was illegal, and :class:`DealError` if it was for a
        table that does not exist.
        """
        place, noted, table, action = self.fetch(self._fault).tolist()
        if not noted:
            return
        self._fault.copy_to_device(self._kernels.no_fault(), stream=self._stream)
        if not 0 <= table < self.num_tables:
            raise DealError(f"Tables are 0 to {self.num_tables - 1}; got {table}, in place {place}.")
        raise IllegalActionError(self.why_illegal(table, action))

    # ---- as in Batch ---------------------------------------------------------------------------------------------

    @property
    def seat(self) -> Any:
        """The seat to act at every table, ``(B,) int64``; overwritten at each access."""
        seats = self._buffer("seat", (self.num_tables,), np.int64)
        self._run("read_seats", self.num_tables, self.tables, seats)
        return seats

    def reset(self, which: Any = None, *, seed: int | None = None, seeds: Any = None, carry: bool = False) -> None:
        """As ``Batch.reset``; ``which`` and ``seeds`` may be on the device."""
        index = self._index(which, distinct=True)
        given = seeds if seeds is None else self._on_device(seeds)
        if seeds is None and seed is not None:
            given = self.place(streams(seed, self.num_tables)[self.indices(which)])
        elif seeds is None:
            given = self._buffer("generators", tuple(index.shape), np.uint64)
            self._run("read_generators", index.size, self.tables, index, given)
        elif given is None:
            given = self.place(self._states(seeds, index.size))
        if given.shape != index.shape:
            raise DealError(f"{index.size} tables are reset, so seeds has shape ({index.size},), not {tuple(given.shape)}.")
        self._run("reset", index.size, self.arrays, index, given, self._new_match(carry))

    def indices(self, which: Any) -> NDArray[np.int64]:
        """As ``Batch.indices``, a NumPy array, also for ``which`` on the device."""
        there = None if which is None else self._on_device(which)
        return super().indices(which if there is None else self.fetch(there))

    def _index(self, which: Any, *, distinct: bool = False) -> Any:
        if which is None:
            return self._all
        return self.place(self._distinct(which) if distinct else self.indices(which))

    def step(self, actions: Any, which: Any = None) -> None:
        """As ``Batch.step``. Device arrays are neither copied nor checked for duplicates; ``checks="later"`` does not wait."""
        index = self._all if which is None else self._device_integers(which, "tables")
        if index is None:
            index = self._index(which, distinct=True)
        chosen = self._device_integers(actions, "actions")
        if chosen is None:
            chosen = self.place(self._whole_numbers(actions, index.size))
        if chosen.shape != index.shape:
            raise IllegalActionError(f"Expected one action a table, shape ({index.size},), not {tuple(chosen.shape)}.")
        self._run("find_illegal", index.size, self.legal, self.done, index, chosen, self._fault)
        self._run("step", index.size, self.arrays, index, chosen, self._fault)
        if self._checks == "now":
            self.check()

    def _device_integers(self, given: Any, what: str) -> Any:
        """Returns ``given`` if it is on the device, else None; raises :class:`DeviceError` unless it is ``(K,) int64``."""
        array = self._on_device(given)
        if array is not None and (array.dtype != np.int64 or array.ndim != 1):
            raise DeviceError(f"On the device {what} are a row of int64, not {array.dtype} of shape {tuple(array.shape)}.")
        return array

    def sample(self, random_streams: Any) -> Any:
        """As ``Batch.sample``; ``random_streams`` is on the device (:meth:`place`) and advances there."""
        streams = self._streams(random_streams)
        actions = self._buffer("sample", (self.num_tables,), np.int64)
        self._run("choose_uniform", self.num_tables, self.legal, streams, actions)
        return actions

    def play_out(self, random_streams: Any) -> Any:
        """As ``Batch.play_out``; ``random_streams`` is on the device and advances there."""
        streams = self._streams(random_streams)
        steps = self._buffer("play_out", (self.num_tables,), np.int64)
        self._run("play_out", self.num_tables, self.arrays, self._all, streams, steps, self._fault)
        return steps

    def _streams(self, random_streams: Any) -> Any:
        streams = self._on_device(random_streams)
        if streams is None or streams.dtype != np.uint64 or tuple(streams.shape) != (self.num_tables,):
            raise DeviceError(f"Random streams are ({self.num_tables},) uint64 on the device: batch.place(streams(seed, B)).")
        return streams

    def observe(self, seats: ArrayLike, which: Any = None) -> Any:
        """As ``Batch.observe``; ``seats`` are on the host."""
        index = self._index(which)
        who = self.place(self._seats_of(seats, index.size))
        out = self._buffer("observe", (index.size, self.layout.size), np.uint8)
        self._run("observe", index.size, self.tables, index, who, out)
        return out

    def omniscient(self, which: Any = None) -> Any:
        """As ``Batch.omniscient``."""
        index = self._index(which)
        wide = self.layout.omniscient(self.num_players).size
        out = self._buffer("omniscient", (index.size, wide), np.uint8)
        others = self._buffer("others", (index.size, self.layout.size), np.uint8)
        self._run("observe_all", index.size, self.tables, index, self._private, others, out)
        return out

    @functools.cached_property
    def _private(self) -> Any:
        return self.place(self.layout.private)

    def redacted(self, which: Any = None) -> Any:
        """As ``Batch.redacted``."""
        index = self._index(which)
        rows = self._buffer("redacted", tuple(index.shape), self.game.table)
        self._run("redact", index.size, self.tables, index, rows)
        return rows

    def save(self) -> dict[str, NDArray[Any]]:
        """As ``Batch.save``; returns NumPy arrays, which a batch on any device can :meth:`restore`."""
        self.check()
        return {name: self.fetch(array) for name, array in self.arrays.state().items()}

    def restore(self, saved: Mapping[str, NDArray[Any]], *, trusted: bool = False) -> None:
        """As ``Batch.restore``, of a state that :meth:`save` of a batch on any device returned."""
        state = self._checked(saved, trusted)
        for name, array in self.arrays.state().items():
            array.copy_to_device(state[name], stream=self._stream)

    def set_tables(self, which: Any, rows: Any, *, trusted: bool = False) -> None:
        """As ``Batch.set_tables``; ``rows`` may be on the device, from where the check copies them."""
        index = self._index(which, distinct=True)
        given = self._on_device(rows)
        if given is None:
            records = self._records(rows, index.size)
            if not trusted:
                self.setup.check_tables(records)
            given = self.place(np.broadcast_to(records, (index.size,)))
        elif given.dtype != self.game.table or given.shape != index.shape:
            raise DealError(f"{index.size} tables are set, by as many records, not by {given.dtype} of shape {given.shape}.")
        elif not trusted:
            self.setup.check_tables(self.fetch(given))
        self._run("enter", index.size, self.arrays, index, given)
