"""Games as WebAssembly modules: the functions of ``engine.interface``, and a description of what lies where in memory.

``python -m nainjaune_env.build.wasm GAME FOLDER EXTENSION...`` writes both, in a process of its own
(``build.lowering.GENERIC``). An :class:`Extension`, such as that of players, adds functions of another package.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.compiler.packed import packer, unpacker
from nainjaune_env.core.atomic_files import replacing, write_text
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import DETAILS, GameSpec
from nainjaune_env.engine.compiled import instance_of, loops_of, numbers_of
from nainjaune_env.engine.determinize import MEMORY
from nainjaune_env.engine.options import EpisodeOptions

PLIES = 1 << 14
"""Plies of an episode that a session has space for."""
WORLDS = 64
"""Determinizations that are drawn at a time."""
FEATURES = ("+simd128",)
"""What a WebAssembly machine must have beyond the first version of the standard."""


Functions = Mapping[str, tuple[str, Callable[..., Any]]]
"""Exported functions by name, with numba's signatures."""


class Extension(Protocol):
    """A Python module that adds functions to the module of a game."""

    def fields(self, game: GameSpec) -> list[Any]:
        """Returns the fields that its functions need in a session, as NumPy describes them."""

    def functions(self, game: GameSpec, base: Any) -> Functions:
        """Returns its functions; ``base`` is ``engine.interface`` for the game, with the offsets of all fields."""

    def table_functions(self, game: GameSpec, base: Any) -> Functions:
        """Returns its functions for many tables, in libraries; ``base`` is ``engine.tables_interface`` for the game."""

    def description(self, game: GameSpec) -> Mapping[str, Any]:
        """Returns what it adds to :func:`describe`."""


class Sizes(NamedTuple):
    """The lengths of the fields of a session, the largest over all seats, and the fewest seats."""

    knobs: int
    numbers: int
    actions: int
    observation: int
    fewest: int
    seats: int
    start_values: int
    plies: int
    worlds: int
    memory: int
    events: int
    event_memory: int


def sizes_of(game: GameSpec) -> Sizes:
    """Returns the sizes that all presets and seats of ``game`` fit in."""
    seats = sorted({players for preset in game.presets.values() for players in preset.players})
    setup = game.setup()
    return Sizes(
        knobs=len(setup.rules.names()),
        numbers=len(numbers_of(setup)),
        actions=len(game.actions),
        observation=max(game.layout(players).size for players in seats),
        fewest=seats[0],
        seats=seats[-1],
        start_values=sum(game.start_values.values()),
        plies=PLIES,
        worlds=WORLDS,
        memory=MEMORY,
        events=game.max_events,
        event_memory=max(game.event_memory, 1),
    )


SESSION_FIELDS = {
    "knobs": "see `KNOB_`; what `pack` reads",
    "details": "the numbers in the sentence of a refusal",
    "numbers": "packed rules and options",
    "tables": "the table",
    "log_tables": "as the episode began, and as its round was dealt",
    "log_marks": "[0]: plies of the episode, plies before the round; [1][0]: 1 = the log is full",
    "legal": "the legal actions of the seat to act, as bits; 0 at the end",
    "deals": "rounds begun",
    "rng": "the generator of what a function draws, after it has",
    "memory": "scratch",
    "rows": "of `tell`: kind, seat, other seat, card, pile, paid, due, cards",
    "row_count": "scratch",
    "event_memory": "what `tell` knows of the round beside the table",
    "shown": "scratch",
    "event_rng": "the generator of the cards that `tell` draws",
    "told": "plies of the episode when the last event was told; -1: none of this round",
    "worlds": "determinizations, or the redacted table",
    "start_values": "of `begin`",
    "reward": "what each seat has gained since the last step",
    "credited": "what was already returned as reward",
    "scratch": "scratch",
    "log_plies": "seat and action of each ply",
    "observation": "what the seat to act observes, or that of `observe`",
    "mask": "1 = legal",
    "done": "1 = the episode has ended",
}
"""The fields of a session and what they are."""


def session_dtype(game: GameSpec, extensions: Sequence[Extension] = ()) -> np.dtype[Any]:
    """Returns the layout of a session of ``game`` in memory."""
    size = sizes_of(game)
    kinds: list[Any] = [
        (np.int64, (max(size.knobs, 1),)),  # see ``Rules.numbers``
        (np.int64, (DETAILS,)),
        (np.int64, (size.numbers,)),  # see ``compiled.numbers_of``
        (game.table, (1,)),
        (game.table, (1, 2)),
        (np.int64, (2, 3)),
        (np.int64, (1,)),
        (np.int64, (1,)),
        (np.uint64, (1,)),
        (np.float64, (size.memory,)),
        (np.int64, (size.events, len(EventRow._fields))),
        (np.int64, (1,)),
        (np.int64, (size.event_memory,)),
        (np.int64, (1,)),
        (np.uint64, (1,)),
        (np.int64, (1,)),
        (game.table, (size.worlds,)),
        (np.int32, (max(size.start_values, 1),)),
        (np.int32, (1, size.seats)),
        (np.int32, (1, size.seats)),
        (np.int32, (size.seats,)),
        (np.int8, (1, size.plies, 2)),
        (np.uint8, (1, size.observation)),
        (np.bool_, (1, size.actions)),
        (np.bool_, (1,)),
    ]
    fields = [(name, *kind) for name, kind in zip(SESSION_FIELDS, kinds, strict=True)]
    return np.dtype([*fields, *(field for extension in extensions for field in extension.fields(game))], align=True)


def interface_of(game: GameSpec, extensions: Sequence[Extension] = ()) -> Any:
    """Returns ``engine.interface`` for ``game``; one process makes it with the same ``extensions`` always."""
    offsets = {name: place["offset"] for name, place in _places(session_dtype(game, extensions)).items()}
    at = namedtuple("Offsets", offsets)(**offsets)
    setup = game.setup()
    knobs = setup.rules.numbers()
    limits = [limit for f in dataclasses.fields(setup.rules) for limit in knob_limits(f.metadata)]
    bound = {"loops": loops_of(setup), "table_dtype": game.table, "at": at, "size": sizes_of(game)}
    bound |= {"telling_loops": instance_of(setup, "nainjaune_env.engine.telling_loops")}
    bound |= {"unpack_knobs": unpacker(knobs), "knob_limits": tuple(limits or [0]), "pack_rules": packer(setup.kernel_rules)}
    bound |= {"compile_rules": jit(game.compile_rules), "refuse_rules": jit(game.refuse_rules)}
    return instance_of(setup, "nainjaune_env.engine.interface", "module", **bound)


def describe(game: GameSpec, extensions: Sequence[Extension] = ()) -> dict[str, Any]:
    """Returns what a caller of the module must know, as JSON has it.

    ``session`` and ``table`` say where each field begins, and its dtype and shape; ``presets`` have the packed rules by number of
    seats. In a session's ``numbers``, whose names are ``rules``, the ``options`` follow them.
    """
    options = EpisodeOptions(whole_match=1, carry=0, skip_forced=1, autoreset=0, observe=1)
    presets = {
        name: {str(n): numbers_of(game.setup(name, n), options)[: -len(options)].tolist() for n in preset.players}
        for name, preset in game.presets.items()
    }
    seats = sorted({int(n) for of_preset in presets.values() for n in of_preset})
    session = session_dtype(game, extensions)
    return {
        "game": game.name,
        "title": game.title,
        "version": version("nainjaune-env"),
        "unit": game.unit,
        "actions": list(game.actions),
        "default_preset": game.default_preset,
        "default_players": game.default_players,
        "presets": presets,
        "knobs": [_knob(game, f) for f in dataclasses.fields(game.setup().rules)],
        "rules": [*_names(game.setup().kernel_rules)],
        "refusals": list(game.refusals),
        "single_round": _single_round(game),
        "options": options._asdict(),
        "observation": {str(n): {"size": game.layout(n).size, "fingerprint": game.layout(n).fingerprint} for n in seats},
        "start_values": dict(game.start_values),
        "events": {member.name.lower(): int(member) for member in game.events},
        "plies": PLIES,
        "worlds": WORLDS,
        "session": {"size": session.itemsize, "fields": _places(session)},
        "table": {"size": game.table.itemsize, "fields": _places(game.table)},
        **{key: value for extension in extensions for key, value in extension.description(game).items()},
    }


def knob_limits(about: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the lowest and the highest number of a knob, as ``Rules.numbers`` has them."""
    if about["kind"] == "number":
        return about["low"] - about["optional"], about["high"]
    return 0, len(about["choices"] or (False, True)) - 1


def _knob(game: GameSpec, f: dataclasses.Field[Any]) -> dict[str, Any]:
    """Returns what a form needs to know of a knob; ``default`` is by preset, and records leave an extension ``omitted`` out."""
    names = ("kind", "choices", "optional", "meaning")
    numbers = {name: f.metadata[name] for name in ("low", "high") if f.metadata["kind"] == "number"}
    default = {name: getattr(preset.rules, f.name) for name, preset in game.presets.items()}
    about = {name: f.metadata[name] for name in names if f.metadata[name] is not None}
    if f.metadata["choices"]:
        about["choices"] = list(f.metadata["choices"])
    omitted = {"omitted": f.default} if f.metadata["extension"] else {}
    return {"name": f.name, **about, **numbers, **omitted, "article": f.metadata["source"], "default": default}


def _names(rules: Any) -> Iterator[str]:
    """Yields a name for each integer of compiled rules: ``stake``, ``antes.0``, ``antes.1`` …"""
    for name, value in zip(rules._fields, rules, strict=True):
        yield from [f"{name}.{place}" for place in range(len(value))] if isinstance(value, tuple) else [name]


def _single_round(game: GameSpec) -> dict[str, Any]:
    """Returns the knobs that make a match one round, with their values (``GameSpec.single_round``)."""
    rules = game.setup().rules
    one = game.single_round(rules).to_dict()
    return {name: value for name, value in one.items() if value != getattr(rules, name)}


def _places(dtype: np.dtype[Any]) -> dict[str, dict[str, Any]]:
    """Returns the offset, dtype and shape of each field."""
    fields: Any = dtype.fields
    return {
        name: {
            "offset": int(fields[name][1]),
            "dtype": "table" if fields[name][0].base.names else fields[name][0].base.name,
            "shape": list(fields[name][0].shape),
        }
        for name in dtype.names or ()
    }


def build(game: GameSpec, folder: Path, extensions: Sequence[str] = ()) -> None:
    """Writes ``NAME.wasm`` and its description, ``NAME.json``, of ``game`` into ``folder``.

    ``extensions`` are names of Python modules that are each an :class:`Extension`. Raises
    :class:`~nainjaune_env.core.errors.MissingLibraryError` without the extra ``wasm``.
    """
    from nainjaune_env.build.lowering import GENERIC, check_linker

    check_linker()
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", __name__, game.name, str(folder), *extensions]
    result = subprocess.run(command, env=os.environ | GENERIC, capture_output=True, encoding="utf-8", errors="replace")
    if result.returncode:
        raise NainJauneError(f"The module of {game.title} could not be built: {result.stderr.strip()}")


def _build_here(game: GameSpec, folder: Path, extensions: Sequence[Extension]) -> None:
    from nainjaune_env.build.lowering import WASM, emit, link_wasm, lower, with_section

    base = interface_of(game, extensions)
    functions: Functions = base.FUNCTIONS
    for extension in extensions:
        functions = {**functions, **extension.functions(game, base)}
    module = link_wasm(emit(lower(functions), WASM, features=",".join(FEATURES)), functions)
    module = with_section(module, "nainjaune", f"{game.name} {version('nainjaune-env')}".encode())
    with replacing(folder / f"{game.name}.wasm") as temporary:
        temporary.write_bytes(module)
    write_text(folder / f"{game.name}.json", json.dumps(describe(game, extensions), indent=1) + "\n")


if __name__ == "__main__":
    from nainjaune_env.registry import get_game

    named = [cast(Extension, importlib.import_module(name)) for name in sys.argv[3:]]
    _build_here(get_game(sys.argv[1]), Path(sys.argv[2]), named)
