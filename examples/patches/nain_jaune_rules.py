"""The rules of one round of Nain Jaune for 2 to 4 players.

Five pots belong to five cards. Everybody antes 1 to 5 chips into them. Whoever
has the lead plays a card of their choice, then cards of ascending ranks,
whatever their suits, as long as they can; then the next player who has the
required rank may go on. After a King, or when nobody goes on, the player of
the last card leads again. Whoever plays the card of a pot takes its chips.
The round ends with a player's last card: the others pay a chip for each card
that they still hold, and a winner who never passed takes all pots, too.

Suits do not matter but for the five pot cards, so a card is one of 18 kinds.
An action plays a kind, or passes. Sources: the rules sheet of the box by DJECO;
https://en.wikipedia.org/wiki/Nain_jaune
"""

RANKS = "A23456789TJQK"
POT_CARDS = ("Td", "Jc", "Qs", "Kh", "7d")
POT_RANKS = (10, 11, 12, 13, 7)
ANTES = (1, 2, 3, 4, 5)
KINDS = (*RANKS, *POT_CARDS)
KING = len(RANKS)
PASS = len(KINDS)
NUM_ACTIONS = PASS + 1
HAND_SIZES = {2: 22, 3: 15, 4: 12}
# How many cards of each kind there are: 52 in all.
DECK = tuple(4 - POT_RANKS.count(i + 1) for i in range(KING)) + (1,) * 5


def rank_of(kind):
    """Returns the rank, 1 to 13, of a kind of card."""
    return kind + 1 if kind < KING else POT_RANKS[kind - KING]


def action_name(action):
    """Returns the name of a kind of card, or "pass"."""
    return KINDS[action] if action < PASS else "pass"


def longest_round(players):
    """Returns a bound of the actions in a round.

    At most one circle of passes follows each card.
    """
    return players * HAND_SIZES[players] * (players + 1)


class Round:
    """A round, from dealt hands to the payments. Player 0 leads."""

    def __init__(self, hands):
        """hands: for each player, how many cards of each kind they hold."""
        self.hands = [list(hand) for hand in hands]
        self.pots = [ante * len(hands) for ante in ANTES]
        self.chips = [-sum(ANTES)] * len(hands)
        self.player = 0
        # The rank that must be played next; 0: any, as the player has the lead.
        self.required = 0
        # Who played the last card; before the first one, who leads.
        self.last = 0
        self.have_passed = set()
        self.history = []
        self.winner = None

    def legal_actions(self):
        """Returns the actions of the player to act, ascending."""
        if self.winner is not None:
            return []
        hand = self.hands[self.player]
        actions = [kind for kind in range(PASS) if hand[kind]]
        if not self.required:
            return actions
        actions = [kind for kind in actions if rank_of(kind) == self.required]
        # Who played the last card must go on; whoever takes over need not.
        if not actions or self.player != self.last:
            actions.append(PASS)
        return actions

    def play(self, action):
        """Plays a legal action of the player to act."""
        self.history.append((self.player, action))
        if action == PASS:
            self._pass()
        else:
            self._play_card(action)

    def _pass(self):
        self.have_passed.add(self.player)
        self.player = (self.player + 1) % len(self.hands)
        if self.player == self.last:
            self.required = 0

    def _play_card(self, kind):
        self.hands[self.player][kind] -= 1
        self.last = self.player
        if kind >= KING:
            self._capture(kind - KING)
        rank = rank_of(kind)
        self.required = rank + 1 if rank < KING else 0
        if not any(self.hands[self.player]):
            self._settle()

    def _capture(self, pot):
        self.chips[self.player] += self.pots[pot]
        self.pots[pot] = 0

    def _settle(self):
        self.winner = self.player
        if self.winner not in self.have_passed:
            for pot in range(len(self.pots)):
                self._capture(pot)
        for player, hand in enumerate(self.hands):
            self.chips[player] -= sum(hand)
            self.chips[self.winner] += sum(hand)
