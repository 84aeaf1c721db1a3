"""The messages of the bot protocol (docs/protocol.md): makes ``hello`` and ``turn``, and reads answers with strict checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import quoted
from nainjaune_env.core.illegal import why_illegal
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import finite, whole
from nainjaune_env.text.seat import TextSeat

from .connection import BotFault
from .faults import Fault
from .settings import BotSettings

PROTOCOL = 1
FEATURES, OBSERVATION, MOVES, TEXT, PLIES = WANTS = ("features", "observation", "moves", "text", "plies")
"""What a bot may want in each decision."""
ACTIONS, PROBABILITIES = "actions", "probabilities"
"""What a turn asks for; also the types of answers, and their keys."""
MAX_COMMENT = 500
"""Characters of a comment, and of a reason that are shown."""
TOLERANCE = 1e-6
"""How far the sum of probabilities may be from 1."""


@dataclass(frozen=True)
class Ready:
    """What a bot says of itself."""

    name: str
    version: str = ""
    author: str = ""
    wants: tuple[str, ...] = ()
    batch: int = 1
    distribution: bool = False
    deterministic: bool = False


@dataclass(frozen=True)
class Question:
    """The decisions of a turn, by which its answer is checked."""

    answer: str
    """``ACTIONS`` or ``PROBABILITIES``."""
    table: NDArray[np.int64]
    """The numbers of the tables, ``(K,)``."""
    seat: NDArray[np.int64]
    """The seats to act, ``(K,)``."""
    legal: NDArray[np.int64]
    """Their legal actions as bits, ``(K,)``."""


class Choice(NamedTuple):
    """The answer to one decision."""

    action: int
    """-1 where it is drawn by the probabilities."""
    probabilities: list[float] | None = None
    """Of the legal actions, ascending."""
    value: float | None = None
    """What the seat expects to win in the rest of the round."""
    comment: str | None = None
    forfeited: bool = False
    """Whether it was made for the bot, after a fault."""


def dumps(value: Any) -> bytes:
    """Returns a value as JSON without spaces, in UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def hello(setup: Setup, settings: BotSettings) -> bytes:
    """Returns the first message, with ``id`` 0."""
    layout = [
        {
            "name": feature.name,
            "shape": list(feature.shape),
            "high": feature.high,
            "scale": feature.scale,
            "zero": feature.zero,
            "meaning": feature.meaning,
        }
        for feature in setup.layout
    ]
    clocks = {"start": settings.start_seconds, "decision": settings.decision_seconds}
    return dumps(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "id": 0,
            **setup.to_dict(),
            "title": setup.game.title,
            "rules_text": TextSeat(setup).rules,
            "unit": setup.game.unit,
            "actions": setup.game.actions,
            "layout": layout,
            "fingerprint": setup.layout.fingerprint,
            "seconds": clocks,
        }
    )


def turn(number: int, answer: str, rows: Sequence[bytes], seconds: float | None) -> bytes:
    """Returns the question with the ``id`` ``number``; ``rows`` are its decisions, each as JSON."""
    head = dumps({"type": "turn", "id": number, "answer": answer, "seconds": None if seconds is None else round(seconds, 6)})
    return b'%b,"decisions":[%b]}' % (head[:-1], b",".join(rows))


def stop(number: int) -> bytes:
    """Returns the message that the answer to the question ``number`` is not needed any more."""
    return dumps({"type": "stop", "id": number})


def read(line: bytes) -> dict[str, Any]:
    """Returns a message of a bot; raises :class:`BotFault` unless it is an object with a ``type``."""
    try:
        message = json.loads(line.decode())
        if b"\\u" in line:
            dumps(message)  # half of a surrogate pair cannot be written again
    except (ValueError, RecursionError):
        raise _invalid(f"Expected a line of JSON, not {quoted(line.decode(errors='replace'))}.") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise _invalid(f"Expected an object with a 'type', not {quoted(message)}.")
    return message


def read_ready(message: dict[str, Any]) -> Ready:
    """Returns what a ``ready`` says; raises :class:`BotFault` for anything else, such as ``refuse``."""
    if message["type"] == "refuse":
        raise _invalid(f"It refuses: {printable(_text(message, 'reason', 'no reason given')[:MAX_COMMENT])}")
    if message["type"] != "ready":
        raise _invalid(f"Expected the answer to 'hello' to have the type 'ready' or 'refuse', not {quoted(message['type'])}.")
    if whole(message.get("protocol")) != PROTOCOL:
        raise _invalid(f"Expected 'protocol' to be {PROTOCOL}, not {quoted(message.get('protocol'))}.")
    if not _text(message, "name", ""):
        raise _invalid("Expected 'ready' to have a 'name'.")
    wants = message.get("wants", [])
    if not isinstance(wants, list) or not all(isinstance(word, str) and word in WANTS for word in wants):
        raise _invalid(f"Expected 'wants' to be a list of {', '.join(WANTS)}, not {quoted(wants)}.")
    batch = whole(message.get("batch", 1))
    if batch is None or batch < 1:
        raise _invalid(f"Expected 'batch' to be a whole number from 1, not {quoted(message['batch'])}.")
    return Ready(
        name=_text(message, "name", ""),
        version=_text(message, "version", ""),
        author=_text(message, "author", ""),
        wants=tuple(word for word in WANTS if word in wants),
        batch=batch,
        distribution=_flag(message, "distribution"),
        deterministic=_flag(message, "deterministic"),
    )


def read_answer(message: dict[str, Any], question: Question, actions: Sequence[str]) -> list[Choice]:
    """Returns the answer to a ``question``, by decision; ``actions`` are the names of the game's.

    Raises :class:`BotFault` for a message that is no such answer, and for an illegal action.
    """
    kind, count = message["type"], len(question.legal)
    allowed = (ACTIONS, PROBABILITIES) if question.answer == ACTIONS else (PROBABILITIES,)
    if kind not in allowed:
        raise _invalid(f"Expected an answer of the type {' or '.join(map(repr, allowed))}, not {quoted(kind)}.")
    given = _list(message, kind, count)
    if kind == ACTIONS:
        _check_actions(given, question, actions)
    else:
        for row, legal in zip(given, question.legal.tolist(), strict=True):
            _check_distribution(row, legal.bit_count())
    chosen: Iterable[int] = given if kind == ACTIONS else repeat(-1)
    drawn: Iterable[list[float] | None] = repeat(None) if kind == ACTIONS else given
    values: Iterable[float | None] = repeat(None)
    comments: Iterable[str | None] = repeat(None)
    if message.get("values") is not None:
        values = _list(message, "values", count)
        if not all(value is None or finite(value) is not None for value in values):
            raise _invalid(f"Expected 'values' to be finite numbers or null, not {quoted(values)}.")
    if message.get("comments") is not None:
        comments = _list(message, "comments", count)
        if not all(text is None or (isinstance(text, str) and len(text) <= MAX_COMMENT) for text in comments):
            raise _invalid(f"Expected 'comments' to be texts of up to {MAX_COMMENT} characters or null, not {quoted(comments)}.")
    return [Choice(*each) for each in zip(chosen, drawn, values, comments, strict=False)]


def _check_actions(given: list[Any], question: Question, names: Sequence[str]) -> None:
    if {*map(type, given)} != {int}:
        raise _invalid(f"Expected 'actions' to be whole numbers, not {quoted(given)}.")
    for k, (action, legal) in enumerate(zip(given, question.legal.tolist(), strict=True)):
        if not (0 <= action < len(names) and legal >> action & 1):
            where = f"table {question.table[k]}, seat {question.seat[k]}"
            raise BotFault(Fault.ILLEGAL, why_illegal(action, legal, names, where))


def _check_distribution(row: Any, count: int) -> None:
    numbers = isinstance(row, list) and len(row) == count and {*map(type, row)} <= {int, float}
    if not numbers or not min(row) >= 0 or not max(row) <= 2 or not abs(sum(row) - 1) <= TOLERANCE:  # large ints are no floats
        raise _invalid(f"Expected {count} probabilities, one for each legal action, with the sum 1, not {quoted(row)}.")


def _list(message: dict[str, Any], key: str, count: int) -> list[Any]:
    given = message.get(key)
    if not isinstance(given, list) or len(given) != count:
        items = f", and it has {len(given)} items" if isinstance(given, list) else f", not {quoted(given)}"
        raise _invalid(f"Expected {key!r} to be a list of {count} items, one for each decision{items}.")
    return given


def _text(message: dict[str, Any], key: str, default: str) -> str:
    given = message.get(key, default)
    if not isinstance(given, str):
        raise _invalid(f"Expected {key!r} to be a text, not {quoted(given)}.")
    return given


def _flag(message: dict[str, Any], key: str) -> bool:
    given = message.get(key, False)
    if not isinstance(given, bool):
        raise _invalid(f"Expected {key!r} to be true or false, not {quoted(given)}.")
    return given


def _invalid(sentence: str) -> BotFault:
    return BotFault(Fault.INVALID, sentence)
