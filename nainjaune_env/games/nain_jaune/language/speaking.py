"""Describes a match to the person in one seat and parses their input: the game's ``nainjaune_env.core.speech.Speaker``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nainjaune_env.core.cards import RANKS, by_rank
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, PASS, PASS_MOVE, POT, SILENT_MARK
from nainjaune_env.games.nain_jaune.language import LANGUAGES, event_texts, language_of
from nainjaune_env.games.nain_jaune.language.parsing import Typed, plain, understand
from nainjaune_env.games.nain_jaune.language.seat import summary
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE, STOP, paint
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, Announce

TWO_COLUMNS = 7
"""The least number of entries that a menu shows in two columns."""


class Speaker:
    """Replays the match on real cards, every hand included, and tells what the listener may know (N6)."""

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
        """``opening`` is a match's table just after the first deal. Pictures and the record show the same cards.

        ``names`` and ``you`` are as in :class:`~nainjaune_env.core.texts.SeatNames`. Raises
        :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
        """
        texts = language_of(language)
        self.words, self.phrases = texts.words, texts.phrases
        self.seat = seat
        self.setup = setup
        self.replay = Replay(setup, opening, viewer=seat)
        self.explicit = self.replay.rules.announce == Announce.EXPLICIT
        self.seats = SeatNames(self.words, setup.players, names, you)
        self._events = event_texts(texts, self.seats, seat)

    @property
    def names(self) -> Sequence[str]:
        """The players' names in seat order, each different; empty where they are not known."""
        return self.seats.names

    @property
    def topics(self) -> Mapping[str, str]:
        """``hand``, ``pots``, ``chips`` and ``played``, in the listener's language."""
        return dict(self.phrases.topics.values())

    def rules(self) -> str:
        """Returns the rules in short: what the knobs that are words say, and those that are set over the preset."""
        return "\n".join(summary(self.setup, self.phrases))

    def typing(self) -> list[str]:
        """Returns how to type a card, a pass and, if pots must be announced, an announcement."""
        return [*self.phrases.typing, *([self.phrases.to_announce] if self.explicit else [])]

    def begun(self) -> list[str]:
        """Returns who deals and who leads; before the first round also the rule of announcing, if pots must be announced."""
        table, rules = self.replay.table, self.replay.rules
        deals = self.words.round.format(number=int(table.rounds), dealer=self.seats.labels[int(table.dealer)])
        leads = self.phrases.leads.format(seat=self.seats[self.replay.seat], antes=self.amount(rules.round_antes))
        announcing = [self.phrases.knobs["announce"]["explicit"]] if self.explicit and table.rounds == 1 else []
        return [deals, self.seats.sentence(leads), *announcing]

    def ply(self, action: int) -> list[Utterance]:
        """Plays ``action``; returns the card with its call or the call of a pass, a blocked circle, the last card."""
        return self._events.tell(self.replay.step(action))

    def dealt(self) -> None:
        """Begins the next round."""
        self.replay.deal()
        self._events.begin()

    def menu(self, width: int) -> list[str]:
        """Returns a line for each action, in two columns if there are many."""
        required = self.replay.required
        head = self.phrases.wanted.format(rank=self.words.rank_names[required - 1]) if required else self.phrases.lead
        entries = [self._entry(action) for action in self._choices()]
        keys, cards = (max(len(entry[k]) for entry in entries) for k in (0, 1))
        lines = [f"  {key:>{keys}}  {listed:<{cards}}  {note}".rstrip() for key, listed, note in entries]
        wide = max(map(len, lines)) + 2
        if len(lines) < TWO_COLUMNS or 2 * wide > width:
            return [head, *lines]
        half = (len(lines) + 1) // 2
        right = [*lines[half:], ""]
        return [head, *(f"{one:<{wide}}{two}".rstrip() for one, two in zip(lines[:half], right, strict=False))]

    def _choices(self) -> list[int]:
        """Returns the legal actions by rank; under ``announce = explicit`` each pot card once."""
        # the menu must not remind a player of the words that take a pot
        shown = [move for move in self.replay.legal_moves() if not (self.explicit and move in POT_CARDS)]
        return list(dict.fromkeys(ACTION_OF[move] for move in shown))

    def _entry(self, action: int) -> tuple[str, str, str]:
        """Returns what to type, the cards it may play, and what follows."""
        if action == PASS:
            return self.typed(action), self.echo(action), self.phrases.passes
        cards = self._cards_of(action)
        note = ""
        if cards[0] in POT_CARDS:
            text = self.phrases.holds if self.explicit else self.phrases.takes
            note = text.format(chips=self.amount(self.replay.pots[POT_CARDS.index(cards[0])]))
        elif RANKS.index(cards[0][0]) + 1 == self.replay.rules.top_rank:
            note = self.phrases.again
        return self.typed(action), self.words.signs(cards), note

    def _cards_of(self, action: int) -> list[str]:
        """Returns the listener's cards that ``action`` may play."""
        return [move.removesuffix(SILENT_MARK) for move in self.replay.legal_moves(1 << action)]

    def typed(self, action: int) -> str:
        """Returns ``5``; ``7s`` if the pot card of its rank is held too; for a pot card ``7d``, announced if needed."""
        if action == PASS:
            return PASS_MOVE
        card = self._cards_of(action)[0]
        rank = self.words.rank_signs[RANKS.index(card[0])]
        if action < POT and not any(other[0] == card[0] and other in POT_CARDS for other in self.replay.hands[self.seat]):
            return rank
        announced = self.explicit and POT <= action < PASS
        return f"{rank}{card[1]} {self.phrases.announcing}" if announced else rank + card[1]

    def parse(self, text: str) -> int:
        """Returns the action for a card by its rank, or with its suit, or with the announcing words; or for a pass."""
        said = understand(text)
        if said is None:
            raise IllegalActionError(self.phrases.not_understood.format(text=text))
        return self._pass() if said.passes else self._card(said)

    def _pass(self) -> int:
        if self.replay.legal_bits() >> PASS & 1:
            return PASS
        if not self.replay.required:
            raise IllegalActionError(self.phrases.must_lead)
        moves = [move for move in self.replay.legal_moves() if not move.endswith(SILENT_MARK)]
        raise IllegalActionError(self.phrases.must_play.format(cards=self._listed(moves)))

    def _card(self, said: Typed) -> int:
        say, required = self.phrases, self.replay.required
        rank = RANKS[said.rank - 1]
        name = self.words.rank_names[said.rank - 1] if said.card is None else self.words.sign(said.card)
        matching = [card for card in self.replay.hands[self.seat] if card[0] == rank and said.card in (None, card)]
        if required and said.rank != required:
            raise IllegalActionError(say.not_wanted.format(card=name, rank=self.words.rank_names[required - 1]))
        if not matching:
            raise IllegalActionError(say.lacks.format(card=name))
        pots = [card for card in matching if card in POT_CARDS]
        if said.announced and not pots:
            raise IllegalActionError(say.takes_nothing.format(card=name))
        if pots and len(matching) > 1 and not said.announced:
            raise IllegalActionError(say.which.format(cards=self._listed(matching)))
        card = pots[0] if pots else matching[0]
        # under explicit announcing, a pot card without the words is a silent play (N2.7)
        return ACTION_OF[card + SILENT_MARK if pots and self.explicit and not said.announced else card]

    def _listed(self, cards: Iterable[str]) -> str:
        return self.words.listed(self.words.sign(card) for card in cards)

    def echo(self, action: int) -> str:
        """Returns the card with its call; a call that was forgotten is not pointed out."""
        if action == PASS:
            return self.words.said(STOP, self.replay.required)
        cards = self.phrases.or_.join(map(self.words.sign, self._cards_of(action)))
        if POT <= action < PASS:
            return f"{cards} {self.words.said(CAPTURE, action - POT)}"
        return cards

    def reveals(self, action: int) -> bool:
        """Returns False: a player's own card shows them nothing new."""
        return False

    def about(self, topic: str) -> list[str] | None:
        """Returns the listener's hand, the pots, everybody's chips, or the cards played."""
        topics = [item for texts in LANGUAGES.values() for item in texts.phrases.topics.items()]
        name = {plain(word): name for name, (word, _) in topics}.get(plain(topic))
        if name == "hand":
            return [f"{self.phrases.hand}{self.words.colon}{self.words.signs(self.replay.hands[self.seat])}"]
        if name == "pots":
            return [self._pots()]
        if name == "chips":
            return self._stacks()
        return None if name is None else self._played()

    def _pots(self) -> str:
        return f"{self.words.pots_after}{self.words.colon}{self.words.by_pot(self.replay.pots)}"

    def _stacks(self) -> list[str]:
        counts = [int(cards) for cards in self.replay.table.cards[: self.replay.players]]
        return [
            self.phrases.stack.format(seat=short, chips=self.amount(chips), cards=self.words.counted(cards, self.words.cards))
            for short, chips, cards in zip(self.seats.labels, self.replay.stacks, counts, strict=True)
        ]

    def _played(self) -> list[str]:
        cards = by_rank(move.removesuffix(SILENT_MARK) for _, move in self.replay.moves if move != PASS_MOVE)
        if not cards:
            return [self.phrases.nothing_played]
        ranks = (self.words.signs(group) for _, group in itertools.groupby(cards, key=lambda card: card[0]))
        return [f"{self.phrases.played}{self.words.colon}{'  '.join(ranks)}"]

    def settled(self) -> list[str]:
        """Returns the payments, with the cards that everybody had left, and the pots."""
        return [*self._events.settlement, self._pots()]

    def amount(self, number: int) -> str:
        """Returns ``1 chip`` or ``12 chips``."""
        return self.words.counted(number, self.words.chips)

    def paint(self, text: str) -> str:
        """Returns ``text`` with red suits in red."""
        return paint(text)
