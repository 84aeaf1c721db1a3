"""Every heuristic against its definition written out over cards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics, modifiers
from nainjaune_agents.players.heuristics.nain_jaune import NAMES, Inattentive
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import DecisionBatch, RecurrentStates
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.cards import DECK, RANKS, cards_in
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune import SPEC
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from tests.support.games import marks_of_seats
from tests.support.positions import asked, turns

GAME = "nain_jaune"
SETUPS = [
    pytest.param(SPEC.setup(preset, players), id=f"{preset}-{players}", marks=marks_of_seats(sheet, players))
    for preset, sheet in SPEC.presets.items()
    for players in sheet.players
] + [
    pytest.param(SPEC.setup("tableau", 4, announce="explicit", decline="always"), id="explicit-always"),
    pytest.param(SPEC.setup("skip", 3, announce="explicit", stake=2), id="explicit-skip"),
    pytest.param(SPEC.setup("djeco", 2, ranks=8, suits=3, hand=10), id="short"),
    pytest.param(SPEC.setup("skip", 2, ranks=11, suits=2, hand=9), id="short-skip"),
]


class View:
    """A table as a player at it would tell it: card texts and ranks 1 to 13."""

    def __init__(self, setup: Setup, table: Any, word: int) -> None:
        self.setup = setup
        self.legal = [setup.game.actions[a] for a in legal_actions(word)]
        self.required_rank = int(table.required_rank)
        self.hand = [text for number, text in enumerate(DECK) if int(table.hand[table.seat]) >> number & 1]
        self.held = {RANKS.index(card[0]) + 1 for card in self.hand}
        self.sizes = [int(cards) for cards in table.cards[: setup.players]]
        self.pots = {card: int(table.pot[i]) for i, card in enumerate(POT_CARDS)}
        seen = int(np.bitwise_or.reduce(table.played[: setup.players]))
        rules: Any = setup.kernel_rules
        self.top = int(rules.top_rank)
        deck = [(number, DECK[number]) for number in cards_in(rules.deck)]
        self.elsewhere = [text for number, text in deck if not seen >> number & 1 and text not in self.hand]
        self.talon = len(deck) - setup.players * int(rules.hand_size)
        others = [seat for seat in range(setup.players) if seat != table.seat]
        self.others = [(self.sizes[seat], {r for r in range(1, 14) if int(table.void[seat]) >> r - 1 & 1}) for seat in others]

    def play(self, rank: int) -> str:
        """The move that plays a rank: announced, if its pot card is held."""
        return next((card for card in self.legal if card in POT_CARDS and card[0] == RANKS[rank - 1]), RANKS[rank - 1])

    def run(self, rank: int) -> list[int]:
        """The ranks of the own run from there."""
        ranks = [rank]
        while ranks[-1] + 1 in self.held:
            ranks.append(ranks[-1] + 1)
        return ranks

    def pots_on(self, ranks: list[int]) -> list[str]:
        """The pot cards in hand of these ranks."""
        return [card for card in POT_CARDS if card in self.hand and RANKS.index(card[0]) + 1 in ranks]


def lowest(view: View) -> str:
    return view.play(min(view.held))


def highest(view: View) -> str:
    return view.play(max(view.held))


def longest(view: View) -> str:
    return view.play(max(view.held, key=lambda r: (len(view.run(r)), -r)))


def run_pot(view: View) -> str:
    return view.play(max(view.held, key=lambda r: (len(view.run(r)) + 2 * len(view.pots_on(view.run(r))), -r)))


def pots(view: View) -> str:
    own = view.pots_on(sorted(view.held))
    return max(own, key=lambda card: (view.pots[card], -POT_CARDS.index(card))) if own else lowest(view)


def in_the_way(view: View, rank: int) -> int:
    """Cards elsewhere that could go on where the own run from ``rank`` stops."""
    end = view.run(rank)[-1]
    skip = view.setup.rules.to_dict()["blocked"] == "skip"
    stops = RANKS[end:] if skip else RANKS[end : end + 1]
    return sum(card[0] in stops for card in view.elsewhere)


def tally(view: View) -> str:
    out = [r for r in sorted(view.held) if len(view.run(r)) == len(view.hand)]
    if out:
        return view.play(out[0])
    skip = view.setup.rules.to_dict()["blocked"] == "skip"

    def score(rank: int) -> tuple[bool, int]:
        run = view.run(rank)
        sure = len(view.hand) <= 5 and in_the_way(view, rank) == 0
        if skip:
            return sure, -rank
        chips = sum(view.pots[card] for card in view.pots_on(run))
        above, below = sum(r > run[-1] for r in view.held), sum(r < rank for r in view.held)
        return sure, 2 * chips + 2 * above - below - in_the_way(view, rank)

    return view.play(max(view.held, key=lambda r: (score(r), -r)))


def patient(view: View) -> str:
    return view.play(first_that(view, to_the_king(view)))


def closer(view: View) -> str:
    returns = to_the_king(view) | {r for r in view.held if in_the_way(view, r) == 0}
    for rank in sorted(view.held):
        left = [RANKS.index(card[0]) + 1 for card in view.hand]
        for played in view.run(rank):
            left.remove(played)
        if not left or (rank in returns and stopping_runs(left, view.top) <= 1):
            return view.play(rank)
    return view.play(first_that(view, returns))


def planner(view: View) -> str:
    """Probabilities are in whole parts of 1024, rounded as there."""
    rules, knobs, one = view.setup.kernel_rules, view.setup.rules.to_dict(), 1024
    dead = set.intersection(*(void for _, void in view.others))
    view = copy.copy(view)
    view.elsewhere = [card for card in view.elsewhere if RANKS.index(card[0]) + 1 not in dead]
    if knobs["blocked"] == "skip" or min(view.sizes) > rules.hand_size / 2:  # type: ignore[attr-defined]
        return closer(view)

    def block_chance(rank: int) -> int:
        """The probability that no other seat has a card of the rank."""
        hands = sum(size for size, void in view.others if rank not in void)
        nobody = one
        for card in view.elsewhere:
            if card[0] == RANKS[rank - 1]:
                nobody = nobody * view.talon // (view.talon + hands)
        return nobody

    def score(rank: int) -> int:
        run, left = view.run(rank), [RANKS.index(card[0]) + 1 for card in view.hand]
        for played in run:
            left.remove(played)
        cards, chance, lead = 0, one, one * (not left)
        for other in range(rank, view.top + 1):
            if other in view.held:
                cards += chance
                continue
            blocked = chance * block_chance(other) // one
            lead += blocked * (other - 1 in view.held)
            chance -= blocked
        lead += chance * (view.top in view.held)
        bonus = 100 * one if lead >= one and stopping_runs(left, view.top) <= 1 else 5 * lead
        return one * sum(view.pots[card] for card in view.pots_on(run)) + cards + bonus

    return view.play(max(view.held, key=lambda r: (score(r), -r)))


def to_the_king(view: View) -> set[int]:
    """Ranks whose runs reach it, or the highest card of a short deck."""
    return {r for r in view.held if view.run(r)[-1] == view.top}


def first_that(view: View, returns: set[int]) -> int:
    """Out, else the most chips if it is time, else with four cards what ``returns`` the lead, else the lowest."""
    ranks = sorted(view.held)
    out = [r for r in ranks if len(view.run(r)) == len(view.hand)]
    chips = {r: sum(view.pots[card] for card in view.pots_on(view.run(r))) for r in ranks}
    urgent = view.setup.rules.to_dict()["stranded"] == "twice_pot"
    rules: Any = view.setup.kernel_rules
    if out:
        return out[0]
    if max(chips.values()) > 0 and (urgent or min(view.sizes) <= rules.hand_size / 2):
        return max(ranks, key=lambda r: (chips[r], -r))
    if returns and len(view.hand) <= 4:
        return min(returns)
    return ranks[0]


def stopping_runs(left: list[int], top: int) -> int:
    """The least number of runs, of those that play these ranks, that do not end with a King.

    A run is begun with the lowest rank that is left, and goes on as far as it can: no other way leaves fewer that do not.
    """
    left, without = sorted(left), 0
    while left:
        rank = left[0]
        while rank in left:
            left.remove(rank)
            rank += 1
        without += rank - 1 != top
    return without


DEFINITIONS: dict[str, Callable[[View], str]] = {
    "lowest": lowest, "highest": highest, "longest": longest, "run_pot": run_pot, "pots": pots, "tally": tally,
    "patient": patient, "closer": closer, "planner": planner,
}  # fmt: skip


def expected(name: str, view: View) -> str:
    """What the heuristic plays: its own idea with the lead; else on with the run, passing only when it must."""
    if view.required_rank == 0:
        return DEFINITIONS[name](view)
    return "-" if view.legal == ["-"] else view.play(view.required_rank)


def test_every_rule_of_thumb_has_a_definition_here() -> None:
    assert set(DEFINITIONS) == set(NAMES) == set(heuristics(GAME)) - {"random"}


@pytest.mark.parametrize("setup", SETUPS)
def test_each_plays_by_its_definition(setup: Setup) -> None:
    agents, rng = heuristics(GAME), np.random.default_rng(0)
    leads = 0
    for step, turn in enumerate(turns(setup, seed=3, tables=20, steps=40)):
        played = {name: [setup.game.actions[a] for a in agents[name].act(turn, rng)] for name in NAMES}
        for k, (row, word) in enumerate(zip(turn._batch.tables, turn.legal, strict=True)):
            if row.required_rank == 0 or step < 5:  # later ones go on with a run, as these
                view = View(setup, row, int(word))
                assert {name: played[name][k] for name in NAMES} == {name: expected(name, view) for name in NAMES}
                leads += view.required_rank == 0
    assert leads > 100


# ---------------------------------------------------------------- not heeding what a pass shows


FIELDS = {"voids": "void", "passed": "passed"}
"""By feature of the observation: the field of the table."""


class Listener:
    """Plays the first legal action, and writes down what the others have passed: in the observation and in the tables."""

    name = "listener"

    def __init__(self) -> None:
        self.observed_sets: list[list[set[tuple[str, int, int]]]] = []
        """A list a call, of a set a decision: (feature, distance, rank)."""
        self.turns: list[DecisionBatch] = []

    def act(self, turn: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        seen = {name: turn.setup.layout.view(turn.observation, name) for name in FIELDS}
        observed_sets = []
        for k in range(len(turn.index)):
            observed = {(name, int(other) + 1, int(rank) + 1) for name in seen for other, rank in np.argwhere(seen[name][k])}
            assert observed == passes(turn, turn.tables[k])
            observed_sets.append(observed)
        self.observed_sets.append(observed_sets)
        self.turns.append(turn)
        return np.array([legal_actions(int(word))[0] for word in turn.legal], np.int64)


def passes(turn: DecisionBatch, table: Any) -> set[tuple[str, int, int]]:
    """What the others have passed by a table, as (feature, distance from the seat to act, rank)."""
    n, seat = turn.setup.players, int(table.seat)
    return {
        (name, k, rank)
        for name, field in FIELDS.items()
        for k in range(1, n)
        for rank in range(1, 14)
        if int(table[field][(seat + k) % n]) >> rank - 1 & 1
    }


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("heeds", [0.0, 0.4, 1.0])
def test_it_takes_in_so_many_passes(players: int, heeds: float) -> None:
    """Never one that was not made; what it has once taken in, or let pass, stays so to the end of the round."""
    listener = Listener()
    agent, rng = Inattentive(listener, heeds), np.random.default_rng(1)
    taken = shown = 0
    before: dict[tuple[int, int, int], tuple[set[tuple[str, int, int]], set[tuple[str, int, int]]]] = {}
    for (turn,) in asked(SPEC.setup("djeco", players), [agent], seed=2, tables=40, steps=40, skip_forced=False):
        assert (agent.act(turn, rng) == [legal_actions(int(word))[0] for word in turn.legal]).all()
        for k, heard in enumerate(listener.observed_sets[-1]):
            truth = passes(turn, turn.tables[k])
            assert heard <= truth
            where = (k, int(turn._batch.deals[k]), int(turn.seat[k]))
            had, knew = before.get(where, (set(), set()))
            assert heard & knew == had  # of what was shown already
            taken += len(heard - had)
            shown += len(truth - knew)
            before[where] = (heard, truth)
    assert {name for _, truth in before.values() for name, _, _ in truth} == set(FIELDS)
    assert shown > 100
    assert abs(taken / shown - heeds) <= 4 * (heeds * (1 - heeds) / shown) ** 0.5


def test_nothing_else_is_touched() -> None:
    """The own hand, and all that tables and observation hold beside what was passed."""
    listener = Listener()
    agent = Inattentive(listener, 0.0)
    for (turn,) in asked(SPEC.setup("djeco", 3), [agent], seed=2, tables=10, steps=30):
        agent.act(turn, np.random.default_rng(0))
        (seen,) = listener.turns[-1:]
        observation, tables = seen.observation.copy(), seen.tables.copy()
        for name, field in FIELDS.items():
            turn.setup.layout.view(observation, name)[:] = turn.setup.layout.view(turn.observation, name)
            assert (tables[field][np.arange(10), turn.seat] == turn.tables[field][np.arange(10), turn.seat]).all()
            tables[field] = turn.tables[field]
        assert observation.tobytes() == turn.observation.tobytes()
        assert tables.tobytes() == turn.tables.tobytes()


def test_what_cannot_be_heeded_is_refused() -> None:
    setup = SPEC.setup("djeco", 4)
    assert list(modifiers(GAME)) == ["heed"]
    with pytest.raises(AgentError, match=r"from 0 to 1, not 1\.5"):
        load_agent("tally@heed=1.5", setup)
    twice = load_agent("tally@heed=0.5@heed=0.5", setup)
    with pytest.raises(AgentError, match=r"tally@heed=0\.5 remembers, and @heed= is for agents that do not"):
        RecurrentStates(Batch(setup, 1), [twice])
