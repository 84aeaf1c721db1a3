"""Answers of players that write words: read strictly, and refused with one sentence, for a counted number of tries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nainjaune_env.core.errors import AnswerError, quoted

from .words import SharedTexts, texts_of

MAX_ANSWER = 100_000
"""The most characters of an answer that is read."""
RETRIES = 2
"""How often a player may answer again by default."""
MOVE_QUOTED = 60
"""Characters of a wrong move that are given back."""
DECORATION = " \t*_`#>\"'“”«»‘’."
"""What may stand around an answer line, or around what it says: emphasis of Markdown, quotation marks, a full stop."""
KINDS = ("empty", "too_long", "no_line", "several", "unknown", "illegal", "cut")
"""What can be wrong with an answer."""
EMPTY, TOO_LONG, NO_LINE, SEVERAL, UNKNOWN, ILLEGAL, CUT = KINDS


class Answers:
    """The answers to one decision.

    An answer is the number of a legal move, its name, or both as they are listed (``18: 7♦``), either alone or behind ``Move:``
    on a line of an answer that may say more. Capitals, spaces and ``DECORATION`` around it do not matter.
    """

    def __init__(
        self, numbers: Mapping[int, int], names: Mapping[int, str], listed: Mapping[int, str], language: str, moves: range
    ) -> None:
        """``numbers``, ``names`` and how they are ``listed`` are of the legal actions; ``moves`` are all numbers of the game."""
        self._say: SharedTexts = texts_of(language)
        self._numbers = numbers
        self._names = names
        self._all = moves
        self._forms: dict[str, int] = {}
        for action, number in numbers.items():
            name = names[action]
            for form in (str(number), name, f"{number}: {name}", listed[action]):
                self._forms.setdefault(plain(form), action)
        self._line = re.compile(rf"[^\w\n]*{re.escape(self._say.keyword)}\s*:(.*)", re.IGNORECASE)

    def format(self, action: int) -> str:
        """Returns the answer line for a legal ``action``."""
        return f"{self._say.keyword}{self._say.colon}{self._numbers[action]}"

    def parse(self, text: str, *, is_cut: bool = False) -> int:
        """Returns the legal action that ``text`` means; raises :class:`AnswerError` with one sentence for the player.

        If the answer ``is_cut``, only a line ``Move:`` before its last line counts, and the sentence asks for a short answer.
        """
        try:
            return self._parse(whole_lines(text), alone=False) if is_cut else self._parse(text)
        except AnswerError as error:
            if not is_cut or error.kind in (SEVERAL, ILLEGAL):
                raise
        raise self._error(CUT)

    def _parse(self, text: str, *, alone: bool = True) -> int:
        if len(text) > MAX_ANSWER:
            raise self._error(TOO_LONG, length=len(text), most=MAX_ANSWER)
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            raise self._error(EMPTY)
        moves = [match[1] for line in lines if (match := self._line.fullmatch(line))]
        if not moves:
            if len(lines) > 1 or not alone:
                raise self._error(NO_LINE)
            moves = lines
        meant = {self._forms.get(plain(move), plain(move)): move for move in moves}
        if len(meant) > 1:
            first, other, *_ = meant.values()
            raise self._error(SEVERAL, first=_shown(first), other=_shown(other))
        (action, move), *_ = meant.items()
        if isinstance(action, int):
            return action
        known = re.fullmatch("[0-9]{1,9}", action) and int(action) in self._all
        raise self._error(ILLEGAL if known else UNKNOWN, given=_shown(move))

    def _error(self, kind: str, **given: object) -> AnswerError:
        moves = ", ".join(f"{number}: {self._names[action]}" for action, number in self._numbers.items())
        sentence: str = getattr(self._say, kind).format(**given)
        return AnswerError(f"{sentence} {self._say.again.format(moves=moves)}", kind)


def plain(text: str) -> str:
    """Returns ``text`` in small letters, with single spaces, none around a colon, and without ``DECORATION`` at its ends."""
    words = " ".join(text.casefold().replace("\ufe0f", "").split())
    return re.sub(r"\s*:\s*", ":", words).strip(DECORATION)


def whole_lines(text: str) -> str:
    """Returns ``text``, which was cut, without its last line: of "Move: 12" there may be "Move: 1"."""
    return text.rpartition("\n")[0]


def _shown(move: str) -> str:
    return quoted(move.strip()[:MOVE_QUOTED])


@dataclass
class Dialogue:
    """The messages of one decision: a question, then answers and the sentences that refuse them, until one is a move.

    After ``retries`` refused answers beyond the first the seat forfeits: its move is the lowest legal action.
    """

    rules: str
    situation: str
    answers: Answers
    legal: tuple[int, ...]
    retries: int = RETRIES
    earlier: tuple[tuple[str, str], ...] = ()
    """Situations of the round before this one, each with its answer."""
    action: int | None = None
    """The move, once there is one."""
    forfeited: bool = False
    faults: list[str] = field(default_factory=list)
    """What was wrong with each refused answer: one of ``KINDS``."""

    def __post_init__(self) -> None:
        turns = [("system", self.rules)]
        for situation, answer in self.earlier:
            turns += [("user", situation), ("assistant", answer)]
        self.messages = [{"role": role, "content": text} for role, text in (*turns, ("user", self.situation))]
        """As chat-completions endpoints take them."""

    def answer(self, text: str, *, is_cut: bool = False) -> int | None:
        """Reads an answer, which may be cut; returns the move, or None where the messages are to be sent once more.

        Raises ``ValueError`` if there is a move already.
        """
        if self.action is not None:
            raise ValueError("The decision has been made.")
        try:
            self.action = self.answers.parse(text, is_cut=is_cut)
        except AnswerError as error:
            self.faults.append(error.kind)
            self.messages.append({"role": "assistant", "content": text[:MAX_ANSWER]})
            self.messages.append({"role": "user", "content": str(error)})
            if len(self.faults) > self.retries:
                self.action, self.forfeited = min(self.legal), True
        else:
            self.messages.append({"role": "assistant", "content": text})
        return self.action
