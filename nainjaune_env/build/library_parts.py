"""The contents of the header of a game's library: types, constants and functions, from the description of the game."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

POINTERS = {"session": "session *", "batch": "batch *", "states": "uint64 *", "actions": "int32 *", "hidden_state": "uint8 *"}
"""By the name of an argument: what it points to; ``void`` for other names."""
RESERVED = {
    "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr", "continue", "decltype",
    "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
    "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "not", "operator", "or", "private", "protected",
    "public", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this",
    "throw", "true", "try", "typedef", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
}  # fmt: skip
"""Words that are no names in C or C++: a field with such a name gets an underscore after it."""


class Field(NamedTuple):
    """A field of a structure, or an argument of a function."""

    name: str
    kind: str
    """A dtype, or the name of a structure; with a star, a pointer to it."""
    shape: tuple[int, ...] = ()
    offset: int = 0
    meaning: str = ""


class Structure(NamedTuple):
    """A structure, aligned to 8 bytes as whoever allocates it sees to."""

    name: str
    size: int
    fields: Sequence[Field]
    meaning: str


class Function(NamedTuple):
    """A function that returns ``int32``."""

    name: str
    arguments: Sequence[Field]
    meaning: str


FINGERPRINT = Function("fingerprint", (), "Returns FINGERPRINT, in the library that this is for.")


class Parts(NamedTuple):
    """What a header has."""

    game: str
    title: str
    version: str
    constants: Sequence[tuple[str, Sequence[tuple[str, int, str]]]]
    """Groups: what they are, and the name, number and meaning of each."""
    presets: Mapping[str, Sequence[int]]
    """The knobs of each preset, as numbers."""
    refusals: Sequence[str]
    structures: Sequence[Structure]
    functions: Sequence[Function]

    @property
    def fingerprint(self) -> int:
        """A number of 31 bits that changes with anything else here: it tells libraries and headers of two versions apart."""
        return int.from_bytes(hashlib.sha256(json.dumps(self).encode()).digest()[:4], "big") >> 1


def parts(
    description: Mapping[str, Any],
    knobs: Mapping[str, Sequence[int]],
    meanings: Mapping[str, str],
    batch: Mapping[str, tuple[str, str]],
    functions: Mapping[str, tuple[str, Callable[..., Any]]],
) -> Parts:
    """Returns the parts of a header for a game with ``description`` (``wasm.describe``).

    ``knobs`` are the knobs of each preset as numbers, ``meanings`` those of a session's fields by name, ``batch`` the fields of
    many tables by name, each with its kind and meaning, ``functions`` the exported ones with numba's signatures.
    """
    session, table = description["session"], description["table"]
    structures = [
        Structure("table", table["size"], _fields(table["fields"], {}), "A table: every card and chip, hidden ones too."),
        Structure(
            "session",
            session["size"],
            _fields(session["fields"], meanings),
            "One table with its log; set to zeros, then `numbers` to options, then `pack`.",
        ),
        Structure(
            "batch",
            8 * len(batch),
            [Field(name, kind, (), 8 * place, about) for place, (name, (kind, about)) in enumerate(batch.items())],
            "Many tables, in arrays of the caller.",
        ),
    ]
    return Parts(
        description["game"],
        description["title"],
        description["version"],
        [*_constants(description)],
        knobs,
        description["refusals"],
        structures,
        [*(_function(name, *made) for name, made in functions.items()), FINGERPRINT],
    )


def _fields(places: Mapping[str, Any], meanings: Mapping[str, str]) -> list[Field]:
    """Returns the fields; dimensions of length 1 are left out."""
    fields = []
    for name, place in places.items():
        shape = tuple(length for length in place["shape"] if length != 1)
        safe = f"{name}_" if name in RESERVED else name
        fields.append(Field(safe, place["dtype"], shape, place["offset"], meanings.get(name, "")))
    return fields


def _function(name: str, signature: str, function: Callable[..., Any]) -> Function:
    kinds = [kind.strip() for kind in signature[signature.index("(") + 1 : -1].split(",") if kind.strip()]
    names = [*inspect.signature(function).parameters]
    arguments = [
        Field(argument, POINTERS.get(argument, "void *") if kind == "voidptr" else kind)
        for argument, kind in zip(names, kinds, strict=True)
    ]
    meaning = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", inspect.getdoc(function) or "").replace("``", "`")
    return Function(name, arguments, meaning)


def _constants(description: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[tuple[str, int, str]]]]:
    rules, options = description["rules"], description["options"]
    yield "results", [("REFUSED", -1, "an argument is not allowed, or it is not the time; nothing has changed"), ("DONE", 0, "")]
    sizes = [("ACTIONS", len(description["actions"]), ""), ("KNOBS", len(description["knobs"]), "")]
    sizes += [("PRESETS", len(description["presets"]), ""), ("REFUSALS", len(description["refusals"]), "")]
    sizes += [("NUMBERS", len(rules) + len(options), "rules, then options")]
    sizes += [("START_VALUES", sum(description["start_values"].values()), ", ".join(description["start_values"]))]
    sizes += [("PLIES", description["plies"], "of an episode, at most"), ("WORLDS", description["worlds"], "drawn at a time")]
    yield "sizes", sizes
    yield "actions", _numbered("ACTION", {name: name for name in description["actions"]})
    yield "places in `knobs`", _numbered("KNOB", {knob["name"]: _about(knob) for knob in description["knobs"]})
    yield "presets", _numbered("PRESET", {name: f"seats: {', '.join(seats)}" for name, seats in description["presets"].items()})
    yield (
        "bytes of an observation by seats",
        [(f"OBSERVATION_{seats}", layout["size"], layout["fingerprint"]) for seats, layout in description["observation"].items()],
    )
    yield "places in `numbers` of rules, which `pack` writes", _numbered("RULE", dict.fromkeys(rules, ""))
    usual = {name: f"usually {value}" for name, value in options.items()}
    yield (
        "places in `numbers` of options, 0 or 1",
        [(name, len(rules) + place, about) for name, place, about in _numbered("OPTION", usual)],
    )
    agents = description.get("agents", {})
    yield "players", [(upper("AGENT", name), agent["number"], agent["about"]) for name, agent in agents.items()]


def _numbered(what: str, names: Mapping[str, str]) -> list[tuple[str, int, str]]:
    """Returns names that begin with ``what``; one without letters and digits, or the same as one before, is its number."""
    made: dict[str, tuple[int, str]] = {}
    for number, (name, about) in enumerate(names.items()):
        made_upper = upper(what, name)
        plain = made_upper not in made and re.search("[A-Z0-9]", upper(name))
        made[made_upper if plain else upper(what, str(number))] = number, about
    return [(name, *numbered) for name, numbered in made.items()]


def upper(*words: str) -> str:
    """Returns ``words`` as one constant's name."""
    return "_".join(re.sub(r"\W+", "_", word, flags=re.ASCII).upper() for word in words)


def _about(knob: Mapping[str, Any]) -> str:
    """Returns what the numbers of a knob mean."""
    if "low" in knob:
        none = f"; {knob['low'] - 1}: none" if knob["optional"] else ""
        return f"{knob['low']} to {knob['high']}{none}; {knob['meaning']}"
    words = knob.get("choices", ["no", "yes"])
    return f"{', '.join(f'{number}: {word}' for number, word in enumerate(words))}; {knob['meaning']}"
