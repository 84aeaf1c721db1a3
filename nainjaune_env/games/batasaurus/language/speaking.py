"""The dialogue with a person in one seat, events in words and typed text as actions: a ``nainjaune_env.core.speech.Speaker``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.language import LANGUAGES, Phrases, event_texts, language_of
from nainjaune_env.games.batasaurus.records.narrate import piles_of
from nainjaune_env.games.batasaurus.records.replay import Replay
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import Phase, values_in
from nainjaune_env.games.batasaurus.view.text import ROW, coloured

_PHRASES = [language.phrases for language in LANGUAGES.values()]
_LOOKED = {"", *(word for phrases in _PHRASES for word in phrases.memorise_words)}
_SLOT = re.compile(rf"(?:{'|'.join(word for phrases in _PHRASES for word in phrases.slot_words)})? *([0-9]+)")


class Speaker:
    """Reports what the listener's seat may know (B4): of other seats' cards their values once shown, never their slots."""

    def __init__(
        self,
        setup: Setup,
        opening: Any,
        seat: int,
        language: str,
        *,
        names: Sequence[str] | None = None,
        you: int | None = None,
    ) -> None:
        """``opening`` is a table fresh from the deal.

        ``names`` and ``you`` are as in :class:`~nainjaune_env.core.texts.SeatNames`. Raises
        :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
        """
        texts = language_of(language)
        self.words, self.phrases = texts.words, texts.phrases
        self.seat = seat
        self.setup = setup
        self.perfect = not must_remember(rules_of(setup))
        self.replay = Replay(setup, opening, viewer=seat)
        self._played = texts.told["play"]
        self.seats = SeatNames(self.words, setup.players, names, you)
        self._events = event_texts(texts, self.seats, seat)

    @property
    def names(self) -> Sequence[str]:
        """The players' names in seat order, each different; empty where they are not known."""
        return self.seats.names

    @property
    def topics(self) -> Mapping[str, str]:
        """``piles`` and ``unshown``, in the listener's language."""
        return dict(self.phrases.topics.values())

    def rules(self) -> str:
        """Returns a summary of the rules, with the value of every knob."""
        return "\n".join(summary(self.setup, self.phrases))

    def typing(self) -> list[str]:
        """Returns how to type a card."""
        rules: Any = self.setup.rules
        return [self.phrases.typing[rules.memory]]

    def begun(self) -> list[str]:
        """Returns who leads."""
        return [self.seats.sentence(self.phrases.begun.format(seat=self.seats[int(self.replay.table.leader)]))]

    def ply(self, action: int) -> list[Utterance]:
        """Makes the ply; returns the card as the listener sees it, and how the round of cards and the trick end."""
        return self._events.tell(self.replay.step(action))

    def dealt(self) -> None:
        """Raises :class:`IllegalActionError`: a match of this game is one round (B3)."""
        raise IllegalActionError("A match of this game is one round: the next round begins a new match.")

    def menu(self, width: int) -> list[str]:
        """Returns the slots in rows as in the picture, with their dinosaurs where the listener sees them."""
        if self.replay.memorising:
            return [self.phrases.look_first]
        slots = self.replay.legal
        texts = []
        for slot in range(self.replay.rules.dinosaurs):
            name = f" {self.words.dinosaurs[self._value(slot) - 1]}" if self.perfect and slot in slots else ""
            texts.append(f"{slot if slot in slots else '·':>4}{name}")
        wide = max(map(len, texts))
        a_row = max(1, min(ROW, width // wide))
        rows = [texts[start : start + a_row] for start in range(0, len(texts), a_row)]
        return [self.phrases.which, *("".join(f"{text:<{wide}}" for text in row).rstrip() for row in rows)]

    def _value(self, slot: int) -> int:
        return int(self.replay.table.layout[self.replay.seat, slot])

    def typed(self, action: int) -> str:
        """Returns the slot's number; "memorise", in the listener's language, for the memorising step."""
        return self.phrases.memorise_words[0] if action == MEMORISE else str(action)

    def parse(self, text: str) -> int:
        """Returns the action for a slot's number or, where the listener sees their cards, the beginning of a dinosaur's name."""
        typed = text.strip().lower()
        if typed in _LOOKED:
            if not self.replay.memorising:
                raise IllegalActionError(self.phrases.no_looking)
            return MEMORISE
        if self.replay.memorising:
            raise IllegalActionError(self.phrases.look_first)
        if match := _SLOT.fullmatch(typed):
            return self._slot(int(match[1]))
        if self.perfect:
            return self._slot_of(text)
        raise IllegalActionError(self.phrases.not_understood.format(text=text))

    def _slot(self, slot: int) -> int:
        dinosaurs = self.replay.rules.dinosaurs
        if slot >= dinosaurs:
            raise IllegalActionError(self.phrases.no_slot.format(last=dinosaurs - 1, text=slot))
        if slot not in self.replay.legal:
            raise IllegalActionError(self.phrases.empty_slot.format(slot=slot))
        return slot

    def _slot_of(self, text: str) -> int:
        """Returns the slot of the dinosaur whose name, in any language, begins with ``text``."""
        typed = _plain(text)
        values = [
            value
            for value in range(1, self.replay.rules.dinosaurs + 1)
            if any(_plain(language.words.dinosaurs[value - 1]).startswith(typed) for language in LANGUAGES.values())
        ]
        if not values:
            raise IllegalActionError(self.phrases.not_understood.format(text=text))
        slots = {self._value(slot): slot for slot in self.replay.legal}
        matches = [value for value in values if value in slots]
        if not matches:
            raise IllegalActionError(self.phrases.gone.format(card=self.words.named(values[0])))
        if len(matches) > 1:
            cards = self.words.listed(map(self.words.named, matches))
            raise IllegalActionError(self.phrases.many.format(text=text, cards=cards))
        return slots[matches[0]]

    def echo(self, action: int) -> str:
        """Returns the slot, and the dinosaur where the listener sees it."""
        if action == MEMORISE:
            return self.phrases.look
        if self.perfect:
            return self._played.format(card=self.words.named(self._value(action)), pile=action)
        return self.phrases.slot.format(slot=action)

    def reveals(self, action: int) -> bool:
        """Returns whether the ply shows the listener a card: their own if played from memory (B4.2), or a battle's (B2.3)."""
        return not self.perfect or bool(self.replay.table.phase == Phase.BATTLE)

    def about(self, topic: str) -> list[str] | None:
        """Returns the piles or the values not shown yet; None for an unknown topic."""
        words = {phrases.topics[name][0]: name for phrases in _PHRASES for name in phrases.topics}
        name = words.get(topic)
        if name == "piles":
            return [self.words.titled(self.words.piles, self.seats.by_seat(self.replay.piles))]
        return None if name is None else self._unshown()

    def _unshown(self) -> list[str]:
        lines = [f"{self.phrases.unshown}{self.words.colon}".rstrip()]
        for seat, name in enumerate(self.seats.labels):
            values = " ".join(map(str, values_in(self.replay.table.held[seat])))
            lines.append(f"  {self.words.titled(name, values or '—')}")
        return lines

    def settled(self) -> list[str]:
        """Returns the dinosaurs that were never shown, and the piles."""
        unshown = self._unshown() if any(self.replay.left) else []
        return [*unshown, *piles_of(self.words, self.seats, self.replay.left, self.replay.piles)]

    def amount(self, number: int) -> str:
        """Returns a number of cards: ``1 card``, ``12 cards``."""
        return self.words.count(number)

    def paint(self, text: str) -> str:
        """Returns ``text`` with dinosaurs coloured by strength."""
        return coloured(text, self.words)


def summary(setup: Setup, phrases: Phrases) -> list[str]:
    """Returns a summary of the rules, with the value of every knob."""
    rules: Any = setup.rules
    texts = (*phrases.rules, phrases.exhausted[rules.exhausted], phrases.memory[rules.memory])
    return [text.format(dinosaurs=rules.dinosaurs) for text in texts]


def _plain(text: str) -> str:
    """Returns ``text`` in lower case without accents or dots: ``t rex`` for ``T. rex``."""
    letters = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(letter for letter in letters if letter != "." and not unicodedata.combining(letter))
