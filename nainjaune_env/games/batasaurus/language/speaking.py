"""A game told to a person in one seat, and what that person types, understood: this game's
``nainjaune_env.core.speech.Speaker``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Said
from nainjaune_env.games.batasaurus.encode import BATTLE
from nainjaune_env.games.batasaurus.kernel import MEMORISE
from nainjaune_env.games.batasaurus.language.phrases import PHRASES
from nainjaune_env.games.batasaurus.language.words import WORDS, words_in
from nainjaune_env.games.batasaurus.records.account import Account, sentence
from nainjaune_env.games.batasaurus.records.replay import Replay
from nainjaune_env.games.batasaurus.view.text import ROW, coloured

LOOKED = ("memorise", "mémorise", "memorize", "")
"""What one types when one has looked at one's cards; above all nothing."""
_SLOT = re.compile(r"(?:slot|emplacement|s|e)? *([0-9]+)")


class Speaker:
    """Of where cards lie it tells what the listener sees (B4), and of the others' plays never from which slot."""

    def __init__(self, setup: Setup, opening: Any, seat: int, language: str, rng: np.random.Generator) -> None:
        """``opening`` is a table fresh from the deal. Nothing is left open here for ``rng`` to draw.

        Raises :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
        """
        self.words = words_in(language)
        self.phrases = PHRASES[language]
        self.seat = seat
        self.setup = setup
        self.perfect = setup.rules.memory == "perfect"  # type: ignore[attr-defined]
        self._start(opening)

    def _start(self, opening: Any) -> None:
        self.replay = Replay(self.setup, opening)
        self.account = Account(self.words, self.setup.players)

    @property
    def topics(self) -> Mapping[str, str]:
        """``piles`` and ``unshown``, in the listener's language."""
        return dict(self.phrases.topics.values())

    def rules(self) -> str:
        """The rules, with what the knobs say."""
        rules: Any = self.setup.rules
        texts = (*self.phrases.rules, self.phrases.exhausted[rules.exhausted], self.phrases.memory[rules.memory])
        return "\n".join([*texts, "", self.phrases.typing[rules.memory]]).format(dinosaurs=rules.dinosaurs)

    def begun(self) -> list[str]:
        """Who leads."""
        return [sentence(self.phrases.begun.format(seat=self.account.shorts[int(self.replay.table.leader)]))]

    def ply(self, action: int) -> list[Said]:
        """A card, seen or not, and what the trick comes to when it is the last of a round of cards."""
        seat, trick = self.replay.seat, self.replay.tricks[-1]
        battle = self.replay.table.phase == BATTLE
        number = len(trick.rounds) - 1
        self.replay.step(action)
        if action == MEMORISE:
            return [Said(seat, self.phrases.looks)]
        said = [Said(seat, self._card(seat, action, trick.rounds[number][-1].value, battle=battle))]
        if len(trick.dropped) > number:
            said += [Said(None, sentence(line)) for line in self.account.round_over(trick, number)]
        if trick.gains is not None:
            said.append(Said(None, sentence(self.account.taken(trick))))
        return said

    def _card(self, seat: int, slot: int, value: int, *, battle: bool) -> str:
        mine, card = seat == self.seat, self.words.named(value)
        if battle and mine and self.perfect:
            text = self.phrases.commits_known
        elif battle:
            text = self.phrases.commits_own if mine else self.phrases.commits
        else:
            text = self.phrases.plays_own if mine else "{card}"
        return text.format(card=card, slot=slot)

    def dealt(self) -> None:
        """A match is one game (B3), so none is dealt after it."""
        raise IllegalActionError("A match of this game is one round, and the next one begins a new match.")

    def menu(self, width: int) -> list[str]:
        """The slots as they lie in the picture; with their dinosaurs where the listener sees them."""
        if self.replay.memorising:
            return [self.phrases.look_first]
        slots = self.replay.slots()
        texts = []
        for slot in range(int(self.setup.kernel_rules.dinosaurs)):  # type: ignore[attr-defined]
            name = f" {self.words.dinosaurs[self._value(slot) - 1]}" if self.perfect and slot in slots else ""
            texts.append(f"{slot if slot in slots else '·':>4}{name}")
        wide = max(map(len, texts))
        a_row = max(1, min(ROW, width // wide))
        rows = [texts[start : start + a_row] for start in range(0, len(texts), a_row)]
        return [self.phrases.which, *("".join(f"{text:<{wide}}" for text in row).rstrip() for row in rows)]

    def _value(self, slot: int) -> int:
        return int(self.replay.table.layout[self.replay.seat, slot])

    def typed(self, action: int) -> str:
        """The slot's number."""
        return LOOKED[0] if action == MEMORISE else str(action)

    def parse(self, text: str) -> int:
        """The number of a slot, or where the listener sees his cards the beginning of a dinosaur's name."""
        typed = text.strip().lower()
        if typed in LOOKED:
            if not self.replay.memorising:
                raise IllegalActionError(self.phrases.no_looking)
            return MEMORISE
        if self.replay.memorising:
            raise IllegalActionError(self.phrases.look_first)
        if found := _SLOT.fullmatch(typed):
            return self._slot(int(found[1]))
        if self.perfect:
            return self._slot_of(_plain(text), text)
        raise IllegalActionError(self.phrases.not_understood.format(text=text))

    def _slot(self, slot: int) -> int:
        dinosaurs = int(self.setup.kernel_rules.dinosaurs)  # type: ignore[attr-defined]
        if slot >= dinosaurs:
            raise IllegalActionError(self.phrases.no_slot.format(last=dinosaurs - 1, text=slot))
        if slot not in self.replay.slots():
            raise IllegalActionError(self.phrases.empty_slot.format(slot=slot))
        return slot

    def _slot_of(self, plain: str, text: str) -> int:
        """The slot of the dinosaur whose name, in any language, begins with ``plain``."""
        dinosaurs = int(self.setup.kernel_rules.dinosaurs)  # type: ignore[attr-defined]
        values = sorted(
            {
                value
                for words in WORDS.values()
                for value, name in enumerate(words.dinosaurs[:dinosaurs], 1)
                if _plain(name).startswith(plain)
            }
        )
        if not values:
            raise IllegalActionError(self.phrases.not_understood.format(text=text))
        held = {self._value(slot): slot for slot in self.replay.slots()}
        found = [value for value in values if value in held]
        if not found:
            raise IllegalActionError(self.phrases.gone.format(card=self.words.named(values[0])))
        if len(found) > 1:
            cards = self.words.listed(self.words.named(value) for value in found)
            raise IllegalActionError(self.phrases.many.format(text=text, cards=cards))
        return held[found[0]]

    def echo(self, action: int) -> str:
        """The slot, and the dinosaur where the listener sees it."""
        if action == MEMORISE:
            return self.phrases.looks
        if self.perfect:
            return self.phrases.plays_own.format(card=self.words.named(self._value(action)), slot=action)
        return self.phrases.slot.format(slot=action)

    def reveals(self, action: int) -> bool:
        """A card from memory is turned up for its owner too (B4.2), and a battle's cards are all turned up together (B2.3)."""
        return not self.perfect or bool(self.replay.table.phase == BATTLE)

    def about(self, topic: str) -> list[str] | None:
        """The piles, or the values not shown yet."""
        words = {phrases.topics[name][0]: name for phrases in PHRASES.values() for name in phrases.topics}
        name = words.get(topic)
        if name == "piles":
            return [self.account.said(self.words.piles, self.account.by_seat(self.replay.piles))]
        return None if name is None else [f"{self.phrases.unshown}{self.words.colon}".rstrip(), *self._unshown()]

    def _unshown(self) -> list[str]:
        lines = []
        for seat, short in enumerate(self.account.shorts):
            held = int(self.replay.table.held[seat])
            values = [str(value) for value in range(1, len(self.words.dinosaurs) + 1) if held >> value - 1 & 1]
            lines.append(f"  {self.account.said(short, ' '.join(values) or '—')}")
        return lines

    def settled(self) -> list[str]:
        """The piles, and the dinosaurs that were never shown."""
        left = [f"{self.phrases.unshown}{self.words.colon}".rstrip(), *self._unshown()] if any(self.replay.left) else []
        return [*left, *self.account.piles(self.replay.left, self.replay.piles)]

    def amount(self, number: int) -> str:
        """``1 card``, ``12 cards``."""
        return self.words.count(number)

    def paint(self, text: str) -> str:
        """Dinosaurs by strength."""
        return coloured(text, self.words)


def _plain(text: str) -> str:
    """Small letters without accents or dots: ``T. rex`` is ``t rex``."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.strip().casefold()) if not unicodedata.combining(letter)
    ).replace(".", "")
