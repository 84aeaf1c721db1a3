"""A match told to a person in one seat, and what that person types, understood: this game's
``nainjaune_env.core.speech.Speaker``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nainjaune_env.core.cards import DECK, RANKS, by_rank
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Said
from nainjaune_env.games.nain_jaune.kernel import PASS
from nainjaune_env.games.nain_jaune.language.parsing import Typed, plain, understand
from nainjaune_env.games.nain_jaune.language.phrases import PHRASES
from nainjaune_env.games.nain_jaune.language.words import card_sign, paint, words_in
from nainjaune_env.games.nain_jaune.records.account import Account
from nainjaune_env.games.nain_jaune.records.real_cards import ACTION_OF, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import cards_of
from nainjaune_env.games.nain_jaune.rules import POT_CARDS

_MOVE_OF = {action: move for move, action in ACTION_OF.items() if move[:2] in (*POT_CARDS, PASS_MOVE)}
"""The moves that are one action each."""
COLUMNS = 7
"""From so many entries on, a menu has two columns."""


class Speaker:
    """It knows every hand, for it plays the match along on real cards, and tells of them what the listener may know (N6)."""

    def __init__(self, setup: Setup, opening: Any, seat: int, language: str, rng: np.random.Generator) -> None:
        """``opening`` is a table fresh from a match's first deal; ``rng`` draws which of several like cards is put down.

        With the generator that pictures and the record are made with, the cards are the same there. Raises
        :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
        """
        self.words = words_in(language)
        self.phrases = PHRASES[language]
        self.seat = seat
        self.rng = rng
        house: Any = setup.rules
        self.house = house
        self.explicit = house.announce == "explicit"
        self.replay = Replay(setup, opening)
        self.account = Account(self.words, setup.players)

    @property
    def topics(self) -> Mapping[str, str]:
        """``hand``, ``pots``, ``chips`` and ``played``, in the listener's language."""
        return dict(self.phrases.topics.values())

    def rules(self) -> str:
        """The rules, with what the knobs say."""
        say, house = self.phrases, self.house
        names = ("decline", "blocked", "payment", "stranded", "grand_opera", "announce")
        knobs = [getattr(say, name)[getattr(house, name)] for name in names]
        if self.explicit and house.unannounced:
            knobs.append(say.unannounced.format(times=house.unannounced))
        return "\n".join([*say.rules, *knobs, "", *say.typing])

    def begun(self) -> list[str]:
        """Who deals and who leads; before the first round also how pots are taken, where that is not by the card alone."""
        table, rules = self.replay.table, self.replay.rules
        lines = [self.words.round.format(number=int(table.rounds), dealer=int(table.dealer))]
        leads = self.phrases.leads.format(seat=self.account.shorts[self.replay.seat], antes=self.amount(rules.round_antes))
        lines.append(leads[0].upper() + leads[1:])
        return [*lines, self.phrases.announce["explicit"]] if self.explicit and table.rounds == 1 else lines

    def ply(self, action: int) -> list[Said]:
        """A card and the call with it, or who has none; a blocked circle; the last card."""
        seat = self.replay.seat
        return self.account.ply(self.replay, seat, self.replay.cards.play(seat, action, self.rng))

    def dealt(self) -> None:
        """The next round."""
        self.replay.deal()
        self.account = Account(self.words, self.replay.players)

    def menu(self, width: int) -> list[str]:
        """A line for each card that may be played, like ones together, in two columns where there are many."""
        need = int(self.replay.table.need)
        head = self.phrases.wanted.format(rank=self.words.rank_names[need - 1]) if need else self.phrases.lead
        entries = [self._entry(action) for action in self._choices()]
        keys, cards = (max(len(entry[k]) for entry in entries) for k in (0, 1))
        lines = [f"  {key:>{keys}}  {held:<{cards}}  {note}".rstrip() for key, held, note in entries]
        wide = max(map(len, lines)) + 2
        if len(lines) < COLUMNS or 2 * wide > width:
            return [head, *lines]
        half = (len(lines) + 1) // 2
        right = [*lines[half:], ""]
        return [head, *(f"{one:<{wide}}{two}".rstrip() for one, two in zip(lines[:half], right, strict=False))]

    def _choices(self) -> list[int]:
        """The legal actions, by rank; where announcing is up to the player, a pot card stands there once."""
        legal = self.replay.legal()
        moves = self.replay.cards.moves(self.seat, legal)
        # the menu does not remind of the words that take a pot
        shown = [move for move in moves if not (self.explicit and move in POT_CARDS)]
        return list(dict.fromkeys(ACTION_OF[move] for move in shown))

    def _entry(self, action: int) -> tuple[str, str, str]:
        """What to type, the cards it may be, and what comes of it."""
        if action == PASS:
            return self.typed(action), self.echo(action), self.phrases.passes
        cards = self._cards_of(action)
        note = ""
        if cards[0] in POT_CARDS:
            text = self.phrases.holds if self.explicit else self.phrases.takes
            note = text.format(chips=self.amount(self.replay.pots[POT_CARDS.index(cards[0])]))
        elif RANKS.index(cards[0][0]) + 1 == self.replay.rules.top_rank:
            note = self.phrases.again
        return self.typed(action), self._signs(cards), note

    def _cards_of(self, action: int) -> list[str]:
        """The listener's cards that ``action`` may play."""
        number = sum(1 << DECK.index(card) for card in self.replay.cards.hand(self.seat))
        return by_rank(cards_of(action, number))

    def _signs(self, cards: Iterable[str]) -> str:
        return " ".join(card_sign(card, self.words) for card in cards)

    def typed(self, action: int) -> str:
        """``5``; ``7s`` where another seven could be meant; a pot card ``7d``; behind it the words where they are needed."""
        move = _MOVE_OF.get(action)
        if move == PASS_MOVE:
            return PASS_MOVE
        if move is not None:
            card = move.removesuffix(SILENT_MARK)
            text = self._rank(card[0]) + card[1]
            return f"{text} {self.phrases.announcing}" if self.explicit and card == move else text
        card = self._cards_of(action)[0]
        pot_of_rank = [held for held in self.replay.cards.hand(self.seat) if held[0] == card[0] and held in POT_CARDS]
        return self._rank(card[0]) + (card[1] if pot_of_rank else "")

    def _rank(self, rank: str) -> str:
        sign = self.words.rank_signs[RANKS.index(rank)]
        return "10" if sign == "T" else sign

    def parse(self, text: str) -> int:
        """A card by its rank, or with its suit; the words that take a pot behind it; or a pass."""
        said = understand(text)
        if said is None:
            raise IllegalActionError(self.phrases.not_understood.format(text=text))
        return self._pass() if said.passes else self._card(said)

    def _pass(self) -> int:
        if self.replay.legal() >> PASS & 1:
            return PASS
        if not self.replay.table.need:
            raise IllegalActionError(self.phrases.must_lead)
        held = [move for move in self.replay.moves() if not move.endswith(SILENT_MARK)]
        raise IllegalActionError(self.phrases.must_play.format(cards=self._listed(held)))

    def _card(self, said: Typed) -> int:
        say, need = self.phrases, int(self.replay.table.need)
        rank = RANKS[said.rank - 1]
        name = self.words.rank_names[said.rank - 1] if said.card is None else card_sign(said.card, self.words)
        held = [card for card in self.replay.cards.hand(self.seat) if card[0] == rank and said.card in (None, card)]
        if need and said.rank != need:
            raise IllegalActionError(say.not_wanted.format(card=name, rank=self.words.rank_names[need - 1]))
        if not held:
            raise IllegalActionError(say.lacks.format(card=name))
        pots = [card for card in held if card in POT_CARDS]
        if said.announced and not pots:
            raise IllegalActionError(say.takes_nothing.format(card=name))
        if pots and len(held) > 1 and not said.announced:
            raise IllegalActionError(say.which.format(cards=self._listed(held)))
        card = pots[0] if pots else held[0]
        # where announcing is up to the player, silence is a play of its own (N2.7)
        return ACTION_OF[card + SILENT_MARK if pots and self.explicit and not said.announced else card]

    def _listed(self, cards: Iterable[str]) -> str:
        *others, last = (card_sign(card, self.words) for card in cards)
        return ", ".join(others) + self.words.joiner + last if others else last

    def echo(self, action: int) -> str:
        """The card, with the call as it will be heard. That a call is missing, nobody says."""
        if action == PASS:
            required = self.words.rank_names[int(self.replay.table.need) - 1]
            return self.words.call.format(call=self.words.without.format(rank=required))
        cards = [card_sign(card, self.words) for card in self._cards_of(action)]
        move = _MOVE_OF.get(action)
        if move in POT_CARDS:
            return f"{cards[0]} {self.words.call.format(call=self.words.takes[POT_CARDS.index(move)])}"
        return self.phrases.or_.join(cards)

    def reveals(self, action: int) -> bool:
        """One's own card shows one nothing new."""
        return False

    def about(self, topic: str) -> list[str] | None:
        """The listener's hand, the pots, everybody's chips, or the cards that have been played."""
        words = {plain(phrases.topics[name][0]): name for phrases in PHRASES.values() for name in phrases.topics}
        name = words.get(plain(topic))
        colon = self.words.colon
        if name == "hand":
            return [f"{self.phrases.hand}{colon}{self.account.cards(self.replay.cards.hand(self.seat))}"]
        if name == "pots":
            return [f"{self.words.pots_after}{colon}{self.account.by_pot(self.replay.pots)}"]
        if name == "chips":
            return self._stacks()
        return None if name is None else self._played()

    def _stacks(self) -> list[str]:
        held = [int(cards) for cards in self.replay.table.cards[: self.replay.players]]
        return [
            self.phrases.stack.format(seat=short, chips=self.amount(chips), cards=self._count(cards, self.phrases.cards))
            for short, chips, cards in zip(self.account.shorts, self.replay.stacks, held, strict=True)
        ]

    def _played(self) -> list[str]:
        cards = by_rank(card for _, card in self.replay.cards.played)
        if not cards:
            return [self.phrases.nothing_played]
        ranks = [self._signs(card for card in cards if card[0] == rank) for rank in RANKS]
        return [f"{self.phrases.played}{self.words.colon}{'  '.join(filter(None, ranks))}"]

    def settled(self) -> list[str]:
        """The payments, which say what everybody was left with, and the pots."""
        pots = f"{self.words.pots_after}{self.words.colon}{self.account.by_pot(self.replay.pots)}"
        return [self.words.settling, *(f"  {line}" for line in self.account.settlement), pots]

    def amount(self, number: int) -> str:
        """``1 chip``, ``12 chips``."""
        return self._count(number, self.phrases.chips)

    def _count(self, number: int, noun: tuple[str, str]) -> str:
        return f"{number} {noun[abs(number) not in self.phrases.singular]}"

    def paint(self, text: str) -> str:
        """Red suits in red."""
        return paint(text)
