"""A slow, obvious Nain Jaune, written straight from RULES.md (N1-N6) and the move notation of RECORD.md.

It exists to prove the fast kernel right by stepping beside it, so it shares nothing with it: real cards as
two-character strings, lists and sets, one small method per article. Where the rules leave a choice open,
the most literal one is taken and marked `# reading:`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RANKS = "A23456789TJQK"  # N1.1: rank number = position + 1
SUITS = "shdc"
POT_CARDS = ("Td", "Jc", "Qs", "Kh", "7d")  # N1.2: pot order everywhere
POT_ANTES = (1, 2, 3, 4, 5)  # N1.2
DECK: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
HAND_SIZES: dict[int, int] = {2: 22, 3: 15, 4: 12, 5: 9, 6: 8, 7: 7, 8: 6}  # N1.4
PASS = "-"
SILENT = "~"

_CHOICES: dict[str, tuple[str, ...]] = {
    "decline": ("never", "entry", "always"),
    "blocked": ("restart", "skip"),
    "payment": ("cards", "points"),
    "stranded": ("none", "match_pot", "twice_pot", "twice_ante"),
    "grand_opera": ("first_turn", "single_turn", "no_rival_card"),
    "announce": ("automatic", "explicit"),
    "direction": ("clockwise", "counterclockwise"),
}


def rank_of(card: str) -> int:
    """N1.1: 1 for an ace up to 13 for a King."""
    return RANKS.index(card[0]) + 1


def points_of(card: str) -> int:
    """N3.2: A = 1 ... 10 = 10, and J, Q, K = 10."""
    return min(rank_of(card), 10)


@dataclass(frozen=True)
class Knobs:
    """The house rules, named as in the table of N5."""

    decline: str  # N2.4, N2.5: 'never' | 'entry' | 'always'
    blocked: str  # N2.6: 'restart' | 'skip'
    payment: str  # N3.2: 'cards' | 'points'
    stranded: str  # N3.3: 'none' | 'match_pot' | 'twice_pot' | 'twice_ante'
    grand_opera: str  # N3.1: 'first_turn' | 'single_turn' | 'no_rival_card'
    announce: str  # N2.7: 'automatic' | 'explicit'
    unannounced: int  # N2.7: pot multiplier for a silent play
    stake: int  # N2.1
    starting_stack: int | None  # N4.1: None is unlimited credit
    end_on_default: bool  # N4.3
    max_rounds: int | None  # N4.3
    direction: str = "clockwise"  # N1.5: only how a table is drawn
    ranks: int = 13  # N1.7
    suits: int = 4  # N1.7
    hand: int | None = None  # N1.7: None is the number of N1.4

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is one of {choices!r}, not {getattr(self, name)!r}.")


def top_rank(knobs: Knobs) -> int:
    """N1.7: the 10 ends a deck of up to ten ranks; with more, ranks count from the ace up."""
    return max(10, knobs.ranks)


def deck_of(knobs: Knobs) -> list[str]:
    """N1.7: so many ranks up to the top one, of so many suits: diamonds, clubs, spades, hearts."""
    suits = "dcsh"[: knobs.suits]
    top = top_rank(knobs)
    return [card for card in DECK if top - knobs.ranks < rank_of(card) <= top and card[1] in suits]


def antes_of(knobs: Knobs) -> list[int]:
    """N1.2; N1.7: a pot whose card is not in the deck is not there, and nobody antes into it."""
    deck = deck_of(knobs)
    return [ante if card in deck else 0 for card, ante in zip(POT_CARDS, POT_ANTES, strict=True)]


class TwinRound:
    """One round, from given hands. Antes are paid in __init__ (N2.1)."""

    def __init__(
        self,
        knobs: Knobs,
        hands: Sequence[Sequence[str]],
        dealer: int,
        stacks: Sequence[int],
        pots: Sequence[int],
    ) -> None:
        self.knobs = knobs
        self.players = len(hands)
        self.hands: list[list[str]] = [list(hand) for hand in hands]
        self.dealt: list[int] = [len(hand) for hand in hands]  # cards dealt to each seat, for N3.1
        self.stacks: list[int] = list(stacks)
        self.pots: list[int] = list(pots)
        self.voids: list[set[int]] = [set() for _ in hands]  # N6
        self.passed: list[set[int]] = [set() for _ in hands]  # N6: ranks passed with the right to refuse
        self.over = False
        self.winner: int | None = None
        self.grand_opera = False
        self.defaults: list[int] = []  # N4.2: sorted, each seat once
        self.passes = 0  # stops and passes in a row since the last card, or since N2.6 last resolved
        self.turns_had: list[int] = [0 for _ in hands]  # N2.9: turns begun by each seat
        self.cards_this_turn = 0  # N2.9: cards the seat to act has played in its present turn
        self.cards_played: list[int] = [0 for _ in hands]  # in the whole round
        self.events: list[dict[str, object]] = []  # what happened, in order; a card or a hand is of real cards

        # N2.2: the seat after the dealer has the lead.
        leader = self._next(dealer)
        self._event("ROUND", leader, other=dealer)
        self._pay_antes()
        self.last_player = leader  # the leader before the first card
        self.required = 0
        self.seat = leader
        self._begin_turn(leader)

    def _event(self, kind: str, seat: int = -1, **columns: object) -> None:
        self.events.append({"kind": kind, "seat": seat, **columns})

    # ------------------------------------------------------------------ moves

    def legal(self) -> list[str]:
        """Every legal real move: cards in the order the hand holds them, then `-` where it is legal."""
        if self.over:
            return []
        moves: list[str] = []
        for card in self._playable_cards():
            moves.append(card)
            if self._may_be_silent(card):
                moves.append(card + SILENT)
        if self._may_pass():
            moves.append(PASS)
        return moves

    def play(self, move: str) -> None:
        """Makes one move of the seat to act; an illegal one raises ValueError and changes nothing."""
        if move not in self.legal():
            raise ValueError(f"Seat {self.seat} cannot play {move!r}: its legal moves are {self.legal()!r}.")
        if move == PASS:
            self._hand_on()
        elif move.endswith(SILENT):
            self._play_card(move[:-1], silent=True)
        else:
            self._play_card(move, silent=False)

    def _playable_cards(self) -> list[str]:
        hand = self.hands[self.seat]
        if self.required == 0:  # N2.3: a card of its choice
            return list(hand)
        return [card for card in hand if rank_of(card) == self.required]  # N2.4, N2.5

    def _may_be_silent(self, card: str) -> bool:
        # N2.7. reading: only a pot card can be played silently; it can even when its pot is empty.
        return self.knobs.announce == "explicit" and card in POT_CARDS

    def _may_pass(self) -> bool:
        if self.required == 0:  # N2.3: a seat with the lead cannot pass
            return False
        if not self._playable_cards():  # N2.5: a seat without such a card passes (or stops)
            return True
        return self._has_right_to_refuse()

    def _goes_on(self) -> bool:
        """Is the seat to act the one that played last (N2.4), rather than one taking over (N2.5)?"""
        # N2.6 skip: "it goes on as in N2.4", so after a skip too the last player is the one that goes on.
        return self.seat == self.last_player

    def _has_right_to_refuse(self) -> bool:
        if self._goes_on():
            return self.knobs.decline == "always"  # N2.4
        return self.knobs.decline in ("entry", "always")  # N2.5

    # ------------------------------------------------------- playing a card

    def _play_card(self, card: str, silent: bool) -> None:
        seat = self.seat
        self.hands[seat].remove(card)
        self._event("PLAY", seat, card=card, pile=int(self.required == 0))
        self.cards_played[seat] += 1
        self.cards_this_turn += 1
        self.last_player = seat
        self.passes = 0
        if card in POT_CARDS:  # N2.7
            if silent:
                self._pay_silence(seat, POT_CARDS.index(card))
            else:
                self._capture(seat, POT_CARDS.index(card))
        if not self.hands[seat]:  # N2.8: after the capture, before any further lead
            self._event("OUT", seat)
            # reading: `seat` and `required` keep what they were for the last move; over, they mean nothing.
            self._settle(seat)
            return
        rank = rank_of(card)
        if card[0] == "K":
            self._event("KING", seat)
        self.required = 0 if rank == top_rank(self.knobs) else rank + 1  # N2.3; the same seat keeps the turn

    def _capture(self, seat: int, pot: int) -> None:  # N2.7
        self._event("CAPTURE", seat, card=POT_CARDS[pot], pile=pot, paid=self.pots[pot], due=self.pots[pot])
        self._take_pot(seat, pot)

    def _take_pot(self, seat: int, pot: int) -> None:
        self.stacks[seat] += self.pots[pot]
        self.pots[pot] = 0

    def _pay_silence(self, seat: int, pot: int) -> None:  # N2.7
        # reading: the multiplier applies to the pot as it stands at the silent play, and a silent last card
        # pays here, before N3 settles anything.
        due = self.knobs.unannounced * self.pots[pot]
        self._event("SILENT", seat, card=POT_CARDS[pot], pile=pot, paid=self._pay_into_pot(seat, pot, due), due=due)

    # -------------------------------------------------- stopping and passing

    def _hand_on(self) -> None:
        """`-`: the stop of the seat that goes on, or the pass of a seat that could take over (N2.5)."""
        self._note_pass()
        self._event("STOP" if self._goes_on() else "PASS", self.seat, card=self.required)
        self.passes += 1
        self.seat = self._next(self.seat)
        self._begin_turn(self.seat)
        if self.passes == self.players:  # the last player's stop and everybody else's pass
            self._resolve_blocked()

    def _note_pass(self) -> None:
        # N6: a refusal without the right to refuse proves the void; with that right it proves nothing.
        kind = self.passed if self._has_right_to_refuse() else self.voids
        kind[self.seat].add(self.required)

    def _begin_turn(self, seat: int) -> None:
        # N2.9. reading: a seat that gets the turn and only passes has had a turn.
        self.turns_had[seat] += 1
        self.cards_this_turn = 0

    def _resolve_blocked(self) -> None:  # N2.6: the turn is back at the seat that played last
        assert self.seat == self.last_player
        self.passes = 0
        wanted = self.required
        if self.knobs.blocked == "skip" and self.required < top_rank(self.knobs):
            self.required += 1
        else:  # restart, or a skip past the King
            self.required = 0
        self._event("BLOCKED", other=self.seat, card=wanted, pile=self.required)

    # ------------------------------------------------------------- settling

    def _settle(self, winner: int) -> None:  # N3: in this order
        self.over = True
        self.winner = winner
        self.grand_opera = self._is_grand_opera(winner)
        if self.grand_opera:
            self._take_every_pot(winner)
        for seat in self._others_from(winner):
            self._pay_winner(seat, winner)
        for seat in self._others_from(winner):
            for pot in range(len(POT_CARDS)):
                self._pay_stranded(seat, pot)

    def _is_grand_opera(self, winner: int) -> bool:  # N3.1
        all_in_this_turn = self.cards_this_turn == self.dealt[winner]
        if self.knobs.grand_opera == "first_turn":
            return all_in_this_turn and self.turns_had[winner] == 1
        if self.knobs.grand_opera == "single_turn":
            return all_in_this_turn
        return all(self.cards_played[seat] == 0 for seat in self._others_from(winner))  # no_rival_card

    def _take_every_pot(self, winner: int) -> None:  # N3.1
        chips = sum(self.pots)
        self._event("OPERA", winner, paid=chips, due=chips)
        for pot in range(len(POT_CARDS)):
            self._take_pot(winner, pot)

    def _pay_winner(self, seat: int, winner: int) -> None:  # N3.2
        # reading: 1 chip per card or point, whatever the stake.
        hand = self.hands[seat]
        due = len(hand) if self.knobs.payment == "cards" else sum(points_of(card) for card in hand)
        paid = self._take_from(seat, due)
        self.stacks[winner] += paid
        self._event("PAYS", seat, other=winner, paid=paid, due=due, cards=list(hand))

    def _pay_stranded(self, seat: int, pot: int) -> None:  # N3.3
        if POT_CARDS[pot] not in self.hands[seat] or self.knobs.stranded == "none":
            return
        due = self._stranded_due(pot)
        self._event("STRANDED", seat, card=POT_CARDS[pot], pile=pot, paid=self._pay_into_pot(seat, pot, due), due=due)

    def _stranded_due(self, pot: int) -> int:
        # reading: the pot as it stands at this moment, so 0 after a grand opéra for match_pot and twice_pot,
        # while twice_ante is due even on an empty pot.
        if self.knobs.stranded == "match_pot":
            return self.pots[pot]
        if self.knobs.stranded == "twice_pot":
            return 2 * self.pots[pot]
        return 2 * POT_ANTES[pot] * self.knobs.stake

    # ---------------------------------------------------------------- chips

    def _pay_antes(self) -> None:  # N2.1
        whole = sum(antes_of(self.knobs)) * self.knobs.stake
        for seat, stack in enumerate(self.stacks):
            if self.knobs.starting_stack is not None and stack < whole:  # N4.3: the match would have ended
                raise ValueError(f"Seat {seat} must ante {whole} in full, but it has only {stack}.")
        for seat in range(self.players):
            self._event("ANTE", seat, paid=whole, due=whole)
            for pot, ante in enumerate(antes_of(self.knobs)):
                self.stacks[seat] -= ante * self.knobs.stake
                self.pots[pot] += ante * self.knobs.stake

    def _pay_into_pot(self, seat: int, pot: int, due: int) -> int:
        paid = self._take_from(seat, due)
        self.pots[pot] += paid
        return paid

    def _take_from(self, seat: int, due: int) -> int:
        """Take what is due from a stack, or what there is of it, and return what was taken."""
        paid = due
        # N4.1: with unlimited credit everything is paid; N4.2: with stacks nobody pays more than he has.
        if self.knobs.starting_stack is not None and due > self.stacks[seat]:
            paid = self.stacks[seat]
            self.defaults = sorted({*self.defaults, seat})
        self.stacks[seat] -= paid
        return paid

    # ---------------------------------------------------------------- seats

    def _next(self, seat: int) -> int:  # N1.5
        return (seat + 1) % self.players

    def _others_from(self, winner: int) -> list[int]:  # N3.2: in order from the winner's next
        return [(winner + step) % self.players for step in range(1, self.players)]


class TwinMatch:
    """A match of rounds, hands supplied round by round (N4)."""

    def __init__(self, knobs: Knobs, players: int, dealer: int) -> None:
        if knobs.starting_stack is None and knobs.max_rounds is None:  # N4.3
            raise ValueError("A match needs a starting_stack or max_rounds; with neither it has no end.")
        self.knobs = knobs
        self.players = players
        self.dealer = dealer
        self.stacks: list[int] = [knobs.starting_stack or 0] * players  # N4.1
        self.pots: list[int] = [0] * len(POT_CARDS)
        self.rounds_played = 0
        self.over = False
        self.winners: list[int] = []
        self._current: TwinRound | None = None
        # reading: N4.3's "before a round" holds for the first round too, so a starting stack below one
        # round of antes (or max_rounds = 0) makes a match that is over at once and shared by everybody.
        self._end_if_due(had_default=False)

    def new_round(self, hands: Sequence[Sequence[str]]) -> TwinRound:
        """The next round; the match's own stacks and pots change only in finish_round."""
        if self.over:
            raise ValueError("The match is over, so there is no new round.")
        self._current = TwinRound(self.knobs, hands, self.dealer, self.stacks, self.pots)
        return self._current

    def finish_round(self, r: TwinRound) -> None:
        """Take over the chips of the round last begun, once it is over, and see whether the match is."""
        if r is not self._current:
            raise ValueError("This is not the round that this match began last, or it is finished already.")
        if not r.over:
            raise ValueError("The round is not over.")
        self._current = None
        self.stacks = list(r.stacks)
        self.pots = list(r.pots)  # N3.4: pots carry over
        self.rounds_played += 1
        self.dealer = (self.dealer + 1) % self.players  # N4.4: the seat that had the first lead
        self._end_if_due(had_default=bool(r.defaults))

    def _end_if_due(self, had_default: bool) -> None:
        if self._someone_cannot_ante() or self._default_ends_it(had_default) or self._rounds_are_up():
            self.over = True
            self.winners = self._richest()

    def _someone_cannot_ante(self) -> bool:  # N4.3
        if self.knobs.starting_stack is None:
            return False
        return min(self.stacks) < sum(antes_of(self.knobs)) * self.knobs.stake

    def _default_ends_it(self, had_default: bool) -> bool:  # N4.3
        return self.knobs.end_on_default and had_default

    def _rounds_are_up(self) -> bool:  # N4.3
        return self.knobs.max_rounds is not None and self.rounds_played >= self.knobs.max_rounds

    def _richest(self) -> list[int]:  # N4.6
        most = max(self.stacks)
        return [seat for seat, stack in enumerate(self.stacks) if stack == most]
