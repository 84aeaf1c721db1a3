"""The messages of a page: JSON objects of a few kinds, each with the token of whoever sends it. Everything else is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, get_origin, get_type_hints

from nainjaune_env.core.errors import MissingLibraryError, NainJauneError, quoted, unknown_name_message
from nainjaune_env.core.speech import LANGUAGES


class Hello(NamedTuple):
    """A page says who reads it; what is sent after the answer is of this greeting."""

    language: str
    greeting: int


class Catalogue(NamedTuple):
    """Asks for what a form for a new table needs."""


class NewTable(NamedTuple):
    """Makes a table."""

    table: dict[str, Any]
    """Its settings, see ``settings.read_settings``."""


class ListTables(NamedTuple):
    """Asks for the list of all tables."""


class Invite(NamedTuple):
    """Makes new links of a table."""

    table: str


class DeleteTable(NamedTuple):
    """Deletes a table."""

    table: str


class Play(NamedTuple):
    """A person's ply, after the ply ``number``."""

    number: int
    action: int


class Deal(NamedTuple):
    """Deals the next round, after the ply ``number``."""

    number: int


class Undo(NamedTuple):
    """Takes back the last decision of a table's only person, after the ply ``number``."""

    number: int


class Rematch(NamedTuple):
    """Makes a table with the same players and rules, when everything is played."""


class Advise(NamedTuple):
    """Asks for advice on the position after the ply ``number``."""

    number: int


class Review(NamedTuple):
    """Asks for the review of a seat's decisions."""

    seat: int


class Position(NamedTuple):
    """Asks for the position after the ply ``number``."""

    number: int


class PlayOn(NamedTuple):
    """Makes a table of the first ``number`` plies with a person in ``seat``."""

    number: int
    seat: int


class Stop(NamedTuple):
    """Stops the search of the viewer."""


class AskRecord(NamedTuple):
    """Asks for the records of a table that is over."""


class AskRules(NamedTuple):
    """Asks for a summary of the rules."""


class OpenReplay(NamedTuple):
    """Opens a record."""

    record: str


class Film(NamedTuple):
    """Asks for the film of a round, with all cards (``view`` 0) or as the seat ``view - 1`` sees it."""

    round: int
    view: int


class SetSpeed(NamedTuple):
    """Changes the pause before each ply."""

    milliseconds: int
    paused: bool


OfHost = Catalogue | NewTable | ListTables | Invite | DeleteTable
"""Messages that only the host may send."""
AtTable = Play | Deal | Undo | Rematch | Advise | Review | Position | PlayOn | Stop | AskRecord | AskRules | SetSpeed
Case = OfHost | AtTable | Hello | OpenReplay | Film
"""What a message asks for."""
CASES: Mapping[str, Callable[..., Case]] = {
    "hello": Hello, "catalogue": Catalogue, "new": NewTable, "tables": ListTables, "invite": Invite, "delete": DeleteTable,
    "play": Play, "deal": Deal, "undo": Undo, "rematch": Rematch, "advise": Advise, "review": Review, "position": Position,
    "play_on": PlayOn, "stop": Stop,
    "record": AskRecord, "rules": AskRules, "replay": OpenReplay, "film": Film, "speed": SetSpeed,
}  # fmt: skip
"""By the ``type`` of a message, which has the fields of its case, and a ``token``."""
MAX_TOKEN = 64
"""Characters of a text that can be a token."""
LARGEST = 1 << 40
"""Whole numbers in messages are below this."""


class MessageError(NainJauneError, ValueError):
    """A message that is none of the protocol's. Nothing was changed."""


class Refusal(NainJauneError):
    """A message that has changed nothing, by the name of its text."""


def error_text(error: NainJauneError) -> str:
    """Returns the sentence of an error for a page, whose reader need not know the folders of the server's machine."""
    return f"{error.need} on the server." if isinstance(error, MissingLibraryError) else str(error)


class Message(NamedTuple):
    """A message as it should be."""

    kind: str
    token: str
    case: Case


@dataclass(frozen=True)
class Limits:
    """What one server, and one connection, may take."""

    message_bytes: int = 16_384
    """Characters of a message."""
    record_bytes: int = 262_144
    """Characters of a message with a record."""
    a_second: float = 20.0
    """Messages of a connection, on average."""
    burst: int = 60
    """Messages of a connection at once."""
    connections: int = 1000
    onlookers: int = 600
    """Connections of them that spectators and readers of replays may take: the rest is for players and the host."""
    spectators: int = 64
    """Spectators at a table."""
    windows: int = 8
    """Connections of one seat at its table; a further one takes the place of the oldest."""
    tables: int = 1000
    further: int = 500
    """Tables of them that may go on from others: the rest is for the host."""
    further_of_link: int = 20
    """Tables that may go on from others with one link."""
    jobs: int = 32
    """Replays and films that wait."""
    jobs_of_link: int = 2
    """Replays and films of one link that wait or are being made."""
    searches: int = 16
    """Searches for advice and reviews at once; each viewer has at most one."""
    idle: float = 3600.0
    """Seconds after which a connection that has sent nothing is closed."""


class Rate:
    """Counts what a connection has sent: ``burst`` at once, ``a_second`` on average."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._left, self._then = float(limits.burst), clock()

    def allows(self, cost: float = 1.0) -> bool:
        """Takes ``cost`` messages off what is left; returns whether there was as much."""
        now = self._clock()
        self._left = min(self._limits.burst, self._left + (now - self._then) * self._limits.a_second)
        self._then = now
        self._left -= cost
        return self._left >= 0


def read_message(given: str | bytes, limits: Limits) -> Message:
    """Returns the message in ``given``; raises :class:`MessageError` with a sentence on the first thing that is wrong."""
    if not isinstance(given, str):
        raise MessageError("A message is text, and this one is bytes.")
    most = limits.record_bytes if _has_record(given) else limits.message_bytes
    if len(given) > most:
        raise MessageError(f"A message has at most {most} characters, not {len(given)}.")
    try:
        message = json.loads(given, parse_constant=_refuse)
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MessageError("A message is Unicode text, and this one has half of a surrogate pair.") from None
    except (ValueError, RecursionError):
        raise MessageError("A message is a JSON object, and this is none.") from None
    if not isinstance(message, dict):
        raise MessageError(f"A message is a JSON object, not {quoted(message)}.")
    kind = message.pop("type", None)
    if not isinstance(kind, str) or kind not in CASES:
        raise MessageError(unknown_name_message("kind of message", kind, CASES))
    if kind != "replay" and len(given) > limits.message_bytes:  # another "type" that comes later
        raise MessageError(f"A message {kind!r} has at most {limits.message_bytes} characters, not {len(given)}.")
    token = message.pop("token", None)
    if not isinstance(token, str) or not 1 <= len(token) <= MAX_TOKEN:
        raise MessageError("A message has a token.")
    expected = get_type_hints(CASES[kind])
    if message.keys() != expected.keys():
        raise MessageError(f"A message {kind!r} has {', '.join(expected) or 'nothing more'}, not {quoted(list(message))}.")
    for name, of in expected.items():
        value, of = message[name], get_origin(of) or of
        if type(value) is not of or (isinstance(value, int) and not 0 <= value < LARGEST):
            raise MessageError(f"In a message {kind!r}, {name!r} is {_NAMES[of]}, not {quoted(value)}.")
    if message.get("language", LANGUAGES[0]) not in LANGUAGES:
        raise MessageError(unknown_name_message("language", message["language"], LANGUAGES))
    return Message(kind, token, CASES[kind](**message))


def cost(given: str | bytes, limits: Limits) -> float:
    """Returns the number of messages that ``given`` counts for: a long record counts for several."""
    return max(1.0, len(given) / limits.message_bytes) if _has_record(given) else 1.0


def _has_record(given: str | bytes) -> bool:
    """Returns whether the message says from the start that it has a record, so that it may be long."""
    return isinstance(given, str) and given[:20].replace(" ", "").startswith('{"type":"replay",')


_NAMES = {int: "a whole number of at least 0", str: "a text", bool: "true or false", dict: "an object"}


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}.")
