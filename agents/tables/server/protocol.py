"""The messages of a page: JSON objects of a few kinds, each with the token of whoever sends it. Everything else is refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from nainjaune_env.core.errors import MissingLibraryError, NainJauneError, as_sentence

from ...base.settings import convert

SLOWEST = 10.0
"""The longest pause before a ply, in seconds."""

Whole = Annotated[int, Meta(ge=0, lt=1 << 40)]


class Message(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """What every message has, beside its ``type``."""

    token: Annotated[str, Meta(min_length=1, max_length=64)]

    @property
    def kind(self) -> str:
        """The ``type``."""
        return str(self.__struct_config__.tag)


class Hello(Message, frozen=True, tag="hello"):
    """A page says who reads it; what is sent after the answer is of this greeting."""

    language: Literal["en", "fr"]
    greeting: Whole


class Catalogue(Message, frozen=True, tag="catalogue"):
    """Asks for what a form for a new table needs."""


class NewTable(Message, frozen=True, tag="new"):
    """Makes a table."""

    table: dict[str, Any]
    """As ``settings.read_settings`` takes it."""


class ListTables(Message, frozen=True, tag="tables"):
    """Asks for the list of all tables."""


class Invite(Message, frozen=True, tag="invite"):
    """Makes new links of a table."""

    table: str


class DeleteTable(Message, frozen=True, tag="delete"):
    """Deletes a table."""

    table: str


class Play(Message, frozen=True, tag="play"):
    """A person's ply, after the ply ``number``."""

    number: Whole
    action: Whole


class Deal(Message, frozen=True, tag="deal"):
    """Deals the next round, after the ply ``number``."""

    number: Whole


class Undo(Message, frozen=True, tag="undo"):
    """Takes back the last decision of a table's only person, after the ply ``number``."""

    number: Whole


class Rematch(Message, frozen=True, tag="rematch"):
    """Makes a table with the same players and rules, when everything is played."""


class Advise(Message, frozen=True, tag="advise"):
    """Asks for advice on the position after the ply ``number``."""

    number: Whole


class Review(Message, frozen=True, tag="review"):
    """Asks for the review of a seat's decisions."""

    seat: Whole


class Position(Message, frozen=True, tag="position"):
    """Asks for the position after the ply ``number``."""

    number: Whole


class PlayOn(Message, frozen=True, tag="play_on"):
    """Makes a table of the first ``number`` plies with a person in ``seat``."""

    number: Whole
    seat: Whole


class Stop(Message, frozen=True, tag="stop"):
    """Stops the search of the viewer."""


class AskRecord(Message, frozen=True, tag="record"):
    """Asks for the records of a table that is over."""


class AskRules(Message, frozen=True, tag="rules"):
    """Asks for a summary of the rules."""


class OpenReplay(Message, frozen=True, tag="replay"):
    """Opens a record."""

    record: str


class Film(Message, frozen=True, tag="film"):
    """Asks for the film of a round, with all cards (``view`` 0) or as the seat ``view - 1`` sees it."""

    round: Whole
    view: Whole


class SetSpeed(Message, frozen=True, tag="speed"):
    """Changes the pause before each ply."""

    milliseconds: Annotated[int, Meta(ge=0, le=round(1000 * SLOWEST))]
    paused: bool


OfHost = Catalogue | NewTable | ListTables | Invite | DeleteTable
"""Messages that only the host may send."""
AtTable = Play | Deal | Undo | Rematch | Advise | Review | Position | PlayOn | Stop | AskRecord | AskRules | SetSpeed
AnyMessage = OfHost | AtTable | Hello | OpenReplay | Film
KINDS = tuple(str(case.__struct_config__.tag) for case in get_args(AnyMessage))
"""The ``type`` of every message."""


class MessageError(NainJauneError, ValueError):
    """A message that is none of the protocol's. Nothing was changed."""


class Refusal(NainJauneError):
    """A message that has changed nothing, by the name of its text."""


def error_text(error: NainJauneError) -> str:
    """Returns the sentence of an error for a page, whose reader need not know the folders of the server's machine."""
    return f"{error.need} on the server." if isinstance(error, MissingLibraryError) else str(error)


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


def read_message(given: str | bytes, limits: Limits) -> AnyMessage:
    """Returns the message in ``given``; raises :class:`MessageError` with a sentence on the first thing that is wrong."""
    if not isinstance(given, str):
        raise MessageError("A message is text, and this one is bytes.")
    most = limits.record_bytes if _has_record(given) else limits.message_bytes
    if len(given) > most:
        raise MessageError(f"A message has at most {most} characters, not {len(given)}.")
    try:
        values = msgspec.json.decode(given)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise MessageError(f"A message is a JSON object in whole characters, and this is none: {as_sentence(error)}") from None
    kind = values.get("type") if isinstance(values, dict) else None
    what = f"A message {kind!r}" if kind in KINDS else "A message"
    message: AnyMessage = convert(AnyMessage, values, what, MessageError)  # type: ignore[arg-type]
    if not isinstance(message, OpenReplay) and len(given) > limits.message_bytes:  # another "type" that comes later
        raise MessageError(f"A message {message.kind!r} has at most {limits.message_bytes} characters, not {len(given)}.")
    return message


def cost(given: str | bytes, limits: Limits) -> float:
    """Returns the number of messages that ``given`` counts for: a long record counts for several."""
    return max(1.0, len(given) / limits.message_bytes) if _has_record(given) else 1.0


def _has_record(given: str | bytes) -> bool:
    """Returns whether the message says from the start that it has a record, so that it may be long."""
    return isinstance(given, str) and given[:20].replace(" ", "").startswith('{"type":"replay",')
