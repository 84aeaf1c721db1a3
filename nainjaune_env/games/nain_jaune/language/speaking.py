"""Describes a match to the person in one seat and parses their input: the game's ``nainjaune_env.core.speech.Speaker``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from nainjaune_env.core.cards import DECK, RANKS, by_rank
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, PASS, PASS_MOVE, SILENT_MARK, cards_of
from nainjaune_env.games.nain_jaune.language import LANGUAGES, language_of
from nainjaune_env.games.nain_jaune.language.parsing import Typed, plain, understand
from nainjaune_env.games.nain_jaune.language.wording import NUMBER, card_sign, paint
from nainjaune_env.games.nain_jaune.records.narrate import RoundNarrator
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, Announce

_MOVE_OF = {action: move for move, action in ACTION_OF.items() if move[:2] in (*POT_CARDS, PASS_MOVE)}
"""The move of each action that only one move is."""
TWO_COLUMNS = 7
"""The least number of entries that a menu shows in two columns."""
DRAWN = "direction"
"""The knob that says how a table is drawn and changes no play."""


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

        ``names`` and ``you`` are those of
        :class:`~nainjaune_env.core.texts.SeatNames`. Raises :class:`~nainjaune_env.core.errors.RulesError` for an unknown
        language.
        """
        wording = language_of(language)
        self.words, self.phrases = wording.words, wording.phrases
        self.seat = seat
        self.setup = setup
        self.replay = Replay(setup, opening)
        self.explicit = self.replay.rules.announce == Announce.EXPLICIT
        self.seats = SeatNames(self.words, setup.players, names, you)
        self.narrator = RoundNarrator(self.words, self.seats)

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
        words = {knob.name for knob in fields(self.setup.rules) if knob.metadata["kind"] == "word"}
        shown = words - {DRAWN} | {*self.setup.knobs}
        if self.explicit and self.replay.rules.unannounced:
            shown.add("unannounced")
        knobs = [self._knob(name) for name in self.setup.rules.names() if name in shown]
        return "\n".join([*self.phrases.rules, *knobs])

    def typing(self) -> list[str]:
        """Returns how to type a card, a pass and, if pots must be announced, an announcement."""
        return [*self.phrases.typing, *([self.phrases.to_announce] if self.explicit else [])]

    def _knob(self, name: str) -> str:
        value, texts = getattr(self.setup.rules, name), self.phrases.knobs[name]
        key = str(value).lower()
        return texts[key if key in texts else NUMBER].format(value=value)

    def begun(self) -> list[str]:
        """Returns who deals and who leads; before the first round also the rule of announcing, if pots must be announced."""
        table, rules = self.replay.table, self.replay.rules
        lines = [self.words.round.format(number=int(table.rounds), dealer=self.seats.labels[int(table.dealer)])]
        leads = self.phrases.leads.format(seat=self.seats[self.replay.seat], antes=self.amount(rules.round_antes))
        lines.append(self.seats.sentence(leads))
        return [*lines, self.phrases.knobs["announce"]["explicit"]] if self.explicit and table.rounds == 1 else lines

    def ply(self, action: int) -> list[Utterance]:
        """Plays ``action``; returns the card with its call or the call of a pass, a blocked circle, the last card."""
        seat = self.replay.seat
        return self.narrator.ply(self.replay, seat, self.replay.show(seat, action))

    def dealt(self) -> None:
        """Begins the next round."""
        self.replay.deal()
        self.narrator = RoundNarrator(self.words, self.seats)

    def menu(self, width: int) -> list[str]:
        """Returns a line for each action, in two columns if there are many."""
        required = int(self.replay.table.required_rank)
        head = self.phrases.wanted.format(rank=self.words.rank_names[required - 1]) if required else self.phrases.lead
        entries = [self._entry(action) for action in self._choices()]
        keys, cards = (max(len(entry[k]) for entry in entries) for k in (0, 1))
        lines = [f"  {key:>{keys}}  {held:<{cards}}  {note}".rstrip() for key, held, note in entries]
        wide = max(map(len, lines)) + 2
        if len(lines) < TWO_COLUMNS or 2 * wide > width:
            return [head, *lines]
        half = (len(lines) + 1) // 2
        right = [*lines[half:], ""]
        return [head, *(f"{one:<{wide}}{two}".rstrip() for one, two in zip(lines[:half], right, strict=False))]

    def _choices(self) -> list[int]:
        """Returns the legal actions by rank; under ``announce = explicit`` each pot card once."""
        moves = self.replay.cards.moves(self.seat, self.replay.legal_bits())
        # the menu must not remind a player of the words that take a pot
        shown = [move for move in moves if not (self.explicit and move in POT_CARDS)]
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
        return self.typed(action), self._signs(cards), note

    def _cards_of(self, action: int) -> list[str]:
        """Returns the listener's cards that ``action`` may play."""
        number = sum(1 << DECK.index(card) for card in self.replay.cards.hand(self.seat))
        return by_rank(cards_of(action, number))

    def _signs(self, cards: Iterable[str]) -> str:
        return " ".join(card_sign(card, self.words) for card in cards)

    def typed(self, action: int) -> str:
        """Returns ``5``; ``7s`` if the pot card of its rank is held too; for a pot card ``7d``, announced if needed."""
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
        """Returns the action for a card by its rank, or with its suit, or with the announcing words; or for a pass."""
        said = understand(text)
        if said is None:
            raise IllegalActionError(self.phrases.not_understood.format(text=text))
        return self._pass() if said.passes else self._card(said)

    def _pass(self) -> int:
        if self.replay.legal_bits() >> PASS & 1:
            return PASS
        if not self.replay.table.required_rank:
            raise IllegalActionError(self.phrases.must_lead)
        held = [move for move in self.replay.moves() if not move.endswith(SILENT_MARK)]
        raise IllegalActionError(self.phrases.must_play.format(cards=self._listed(held)))

    def _card(self, said: Typed) -> int:
        say, required = self.phrases, int(self.replay.table.required_rank)
        rank = RANKS[said.rank - 1]
        name = self.words.rank_names[said.rank - 1] if said.card is None else card_sign(said.card, self.words)
        held = [card for card in self.replay.cards.hand(self.seat) if card[0] == rank and said.card in (None, card)]
        if required and said.rank != required:
            raise IllegalActionError(say.not_wanted.format(card=name, rank=self.words.rank_names[required - 1]))
        if not held:
            raise IllegalActionError(say.lacks.format(card=name))
        pots = [card for card in held if card in POT_CARDS]
        if said.announced and not pots:
            raise IllegalActionError(say.takes_nothing.format(card=name))
        if pots and len(held) > 1 and not said.announced:
            raise IllegalActionError(say.which.format(cards=self._listed(held)))
        card = pots[0] if pots else held[0]
        # under explicit announcing, a pot card without the words is a silent play (N2.7)
        return ACTION_OF[card + SILENT_MARK if pots and self.explicit and not said.announced else card]

    def _listed(self, cards: Iterable[str]) -> str:
        return self.words.listed(card_sign(card, self.words) for card in cards)

    def echo(self, action: int) -> str:
        """Returns the card with its call; a call that was forgotten is not pointed out."""
        if action == PASS:
            required = self.words.rank_names[int(self.replay.table.required_rank) - 1]
            return self.words.call.format(call=self.words.without.format(rank=required))
        cards = [card_sign(card, self.words) for card in self._cards_of(action)]
        move = _MOVE_OF.get(action)
        if move in POT_CARDS:
            return f"{cards[0]} {self.words.call.format(call=self.words.takes[POT_CARDS.index(move)])}"
        return self.phrases.or_.join(cards)

    def reveals(self, action: int) -> bool:
        """Returns False: a player's own card shows them nothing new."""
        return False

    def about(self, topic: str) -> list[str] | None:
        """Returns the listener's hand, the pots, everybody's chips, or the cards played."""
        topics = [item for texts in LANGUAGES.values() for item in texts.phrases.topics.items()]
        name = {plain(word): name for name, (word, _) in topics}.get(plain(topic))
        colon = self.words.colon
        if name == "hand":
            return [f"{self.phrases.hand}{colon}{self.narrator.cards(self.replay.cards.hand(self.seat))}"]
        if name == "pots":
            return [f"{self.words.pots_after}{colon}{self.narrator.by_pot(self.replay.pots)}"]
        if name == "chips":
            return self._stacks()
        return None if name is None else self._played()

    def _stacks(self) -> list[str]:
        held = [int(cards) for cards in self.replay.table.cards[: self.replay.players]]
        return [
            self.phrases.stack.format(seat=short, chips=self.amount(chips), cards=self.words.counted(cards, self.words.cards))
            for short, chips, cards in zip(self.seats.labels, self.replay.stacks, held, strict=True)
        ]

    def _played(self) -> list[str]:
        cards = by_rank(card for _, card in self.replay.cards.played)
        if not cards:
            return [self.phrases.nothing_played]
        ranks = [self._signs(card for card in cards if card[0] == rank) for rank in RANKS]
        return [f"{self.phrases.played}{self.words.colon}{'  '.join(filter(None, ranks))}"]

    def settled(self) -> list[str]:
        """Returns the payments, with the cards that everybody had left, and the pots."""
        pots = f"{self.words.pots_after}{self.words.colon}{self.narrator.by_pot(self.replay.pots)}"
        return [*self.narrator.settlement, pots]

    def amount(self, number: int) -> str:
        """Returns ``1 chip`` or ``12 chips``."""
        return self.words.counted(number, self.words.chips)

    def paint(self, text: str) -> str:
        """Returns ``text`` with red suits in red."""
        return paint(text)
