"""The messages of the bot protocol (docs/protocol.md): makes ``hello`` and ``turn``, and reads answers with strict checks."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.illegal import why_illegal
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.history import PlayHistory
from nainjaune_env.text.seat import TextSeat

from .faults import BotFault, Fault
from .settings import BotSettings

PROTOCOL = 1
FEATURES, OBSERVATION, MOVES, TEXT, PLIES = WANTS = ("features", "observation", "moves", "text", "plies")
"""What a bot may want in each decision."""
ACTIONS, PROBABILITIES = "actions", "probabilities"
"""What a turn asks for; also the types of answers, and their keys."""
MAX_COMMENT = 500
"""Characters of a comment, and of a reason that are shown."""
MAX_LEGAL_SETS = 1 << 16
"""Pairs of a seat and a set of legal actions whose JSON is cached."""
TOLERANCE = 1e-6
"""How far the sum of probabilities may be from 1."""

Comments = list[Annotated[str, Meta(max_length=MAX_COMMENT)] | None]
Answer = TypeVar("Answer", bound=Struct)


class Message(Struct):
    """What every message has: its type, and the number of its question where it answers one."""

    type: str
    id: msgspec.Raw = msgspec.Raw(b"null")


class Ready(Struct, frozen=True):
    """What a bot says of itself."""

    protocol: int
    name: Annotated[str, Meta(min_length=1)]
    version: str = ""
    author: str = ""
    wants: tuple[str, ...] = ()
    batch: Annotated[int, Meta(ge=1)] = 1
    distribution: bool = False
    deterministic: bool = False


class Refusal(Struct):
    """Why a bot does not play."""

    reason: str = "no reason given"


class Refused(BotFault):
    """The bot does not play at such tables."""


class Actions(Struct):
    """An answer by actions."""

    actions: list[int]
    values: list[float | None] | None = None
    comments: Comments | None = None


class Probabilities(Struct):
    """An answer by the probabilities of the legal actions."""

    probabilities: list[list[float]]
    values: list[float | None] | None = None
    comments: Comments | None = None


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


class Question(NamedTuple):
    """The decisions of a turn, by which its answer is checked."""

    answer: str
    """``ACTIONS`` or ``PROBABILITIES``."""
    table: NDArray[np.int64]
    """The numbers of the tables, ``(K,)``."""
    seat: NDArray[np.int64]
    """The seats to act, ``(K,)``."""
    legal: NDArray[np.int64]
    """Their legal actions as bits, ``(K,)``."""


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
            "seconds": {"start": settings.start_seconds, "decision": settings.decision_seconds},
        }
    )


def turn(number: int, answer: str, rows: Sequence[bytes], seconds: float | None) -> bytes:
    """Returns the question with the ``id`` ``number``; ``rows`` are its decisions, each as JSON."""
    head = dumps({"type": "turn", "id": number, "answer": answer, "seconds": None if seconds is None else round(seconds, 6)})
    return b'%b,"decisions":[%b]}' % (head[:-1], b",".join(rows))


def stop(number: int) -> bytes:
    """Returns the message that the answer to the question ``number`` is not needed any more."""
    return dumps({"type": "stop", "id": number})


class Rows:
    """Makes the decisions of turns under one setup for a bot that wants ``wants``."""

    def __init__(self, setup: Setup, wants: Sequence[str]) -> None:
        """Raises :class:`AgentError` where the game has no plies, and the bot wants them."""
        if PLIES in wants and setup.game.rewind is None:
            raise AgentError(f"Not every seat sees every ply of {setup.game.title}, and the bot wants 'plies'.")
        self._setup = setup
        self._wants = frozenset(wants)
        self._features = FeatureText(setup.layout) if FEATURES in wants else None
        self._seat = TextSeat(setup) if TEXT in wants else None
        self._head = functools.lru_cache(MAX_LEGAL_SETS)(self._make_head)

    def _make_head(self, seat: int, legal_bits: int) -> bytes:
        legal = legal_actions(legal_bits)
        moves = {MOVES: [self._setup.game.actions[action] for action in legal]} if MOVES in self._wants else {}
        return dumps({"seat": seat, "legal": legal, **moves})[:-1]

    def encode(self, decisions: DecisionBatch, seeds: NDArray[np.int64] | None) -> list[bytes]:
        """Returns the decisions of a batch, each a JSON object; ``seeds`` are sent if there are any."""
        columns = [[*map(self._head, decisions.seat.tolist(), decisions.legal.tolist())]]
        if seeds is not None:
            columns.append([b',"seed":%d' % seed for seed in seeds.tolist()])
        if self._features is not None:
            columns.append([b',"features":' + text for text in self._features.encode(decisions.observation)])
        if OBSERVATION in self._wants:
            columns.append([b',"observation":"%b"' % base64.b64encode(row.tobytes()) for row in decisions.observation])
        if self._seat is not None:
            texts = self._seat.situations(decisions, np.arange(len(decisions.index)))
            columns.append([b',"text":' + dumps(text) for text in texts])
        if PLIES in self._wants:
            columns.append([b',"plies":' + dumps(plies) for plies in _plies(decisions.history)])
        return [b"%b}" % b"".join(parts) for parts in zip(*columns, strict=True)]


class FeatureText:
    """Observations as JSON objects of features by name; a number has as many places as its feature's largest, with spaces."""

    def __init__(self, layout: Layout) -> None:
        def blank(shape: Sequence[int], width: int) -> str:
            return f"[{','.join([blank(shape[1:], width)] * shape[0])}]" if shape else "\0" * width

        fields = [f"{json.dumps(part.name, ensure_ascii=False)}:{blank(part.shape, len(str(part.high)))}" for part in layout]
        widths = np.repeat([len(str(part.high)) for part in layout], [part.size for part in layout])
        self._blank = np.frombuffer(f"{{{','.join(fields)}}}".encode(), np.uint8)
        places = np.flatnonzero(self._blank == 0)[np.cumsum(widths) - widths]
        self._by_width = []
        for width in {*widths.tolist()}:
            which = np.flatnonzero(widths == width)
            digits = np.array([list(b"%*d" % (width, number)) for number in range(min(10**width, 256))], np.uint8)
            self._by_width.append((which, places[which, None] + np.arange(width), digits))

    def encode(self, observation: NDArray[np.uint8]) -> list[bytes]:
        """Returns the features of each ``observation (K, size)``."""
        rows = np.tile(self._blank, (len(observation), 1))
        for which, where, digits in self._by_width:
            rows[:, where] = digits[observation[:, which]]
        return [*map(bytes, rows)]


def _plies(history: PlayHistory) -> Iterator[list[list[int]]]:
    for seats, actions, count in zip(history.seat.tolist(), history.action.tolist(), history.count.tolist(), strict=True):
        yield [[seat, action] for seat, action in zip(seats[:count], actions[:count], strict=True)]


def read(line: bytes) -> Message:
    """Returns the type and the number of a message; raises :class:`BotFault` unless it is JSON with a ``type``."""
    return _decoded(line, Message, "message")


def read_ready(line: bytes) -> Ready:
    """Returns what the answer to ``hello`` says; raises :class:`BotFault` for anything but ``ready``, such as ``refuse``."""
    kind = read(line).type
    if kind == "refuse":
        reason = _decoded(line, Refusal, "'refuse'").reason[:MAX_COMMENT]
        raise Refused(Fault.INVALID, f"It refuses: {printable(reason)}")
    if kind != "ready":
        raise _invalid("the answer to 'hello' to have the type 'ready' or 'refuse'", kind)
    ready = _decoded(line, Ready, "'ready'")
    if ready.protocol != PROTOCOL:
        raise _invalid(f"'protocol' to be {PROTOCOL}", ready.protocol)
    if not {*ready.wants} <= {*WANTS}:
        raise _invalid(f"'wants' to be a list of {', '.join(WANTS)}", [*ready.wants])
    return msgspec.structs.replace(ready, wants=tuple(word for word in WANTS if word in ready.wants))


def read_answer(line: bytes, question: Question, actions: Sequence[str]) -> list[Choice]:
    """Returns the answer to a ``question``, by decision; ``actions`` are the names of the game's.

    Raises :class:`BotFault` for a message that is no such answer, and for an illegal action.
    """
    kind, count = read(line).type, len(question.legal)
    answer: Any
    rows: Sequence[list[float] | None] = [None] * count
    if kind == ACTIONS == question.answer:
        answer = _decoded(line, Actions, "'actions'")
        chosen = answer.actions
    elif kind == PROBABILITIES:
        answer = _decoded(line, Probabilities, "'probabilities'")
        chosen, rows = [-1] * count, answer.probabilities
    else:
        raise _invalid(f"an answer of the type {question.answer!r}", kind)
    given = {kind: getattr(answer, kind), "values": answer.values, "comments": answer.comments}
    for name, items in given.items():
        if items is not None and len(items) != count:
            raise _invalid(f"{name!r} to be a list of {count} items, one for each decision", items)
    for k, (action, row, legal) in enumerate(zip(chosen, rows, question.legal.tolist(), strict=True)):
        if row is None:
            if not (0 <= action < len(actions) and legal >> action & 1):
                where = f"table {question.table[k]}, seat {question.seat[k]}"
                raise BotFault(Fault.ILLEGAL, why_illegal(action, legal, actions, where))
        elif len(row) != legal.bit_count() or min(row) < 0 or not abs(sum(row) - 1) <= TOLERANCE:
            raise _invalid(f"{legal.bit_count()} probabilities, one for each legal action, with the sum 1", row)
    nothing = [None] * count
    return [*map(Choice, chosen, rows, answer.values or nothing, answer.comments or nothing)]


def _decoded(line: bytes, kind: type[Answer], what: str) -> Answer:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError as error:
        raise BotFault(Fault.INVALID, f"It sent no valid {what}: {error}: {quoted(line.decode(errors='replace'))}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _invalid("a line of JSON", line.decode(errors="replace")) from None


def _invalid(expected: str, came: object) -> BotFault:
    return BotFault(Fault.INVALID, f"Expected {expected}, not {quoted(came)}.")
