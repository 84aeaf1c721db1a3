"""Prices of rules, in chips a round: what a player gains by one in a field that lacks it (docs/lab/play.md).

declining  zoo:strong on djeco among copies of it that never decline, and one that never does among those that may
blocked    closer, but cards that all others have proven to lack count as gone, over closer
along      the same, and late it leads, in place of the lowest rank, the run on which most of its cards go along before a
           certain block, three more if it holds the last rank before it
kinds      closer, but at decisions of one kind it acts as zoo:strong, over closer

python benchmarks/rule_prices.py declining --deals 12000 --seed 3703
python benchmarks/rule_prices.py blocked --deals 40000 --seed 3706
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents import edge
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.heuristics.nain_jaune import (
    LAST_CARDS,
    NAMES,
    choose,
    copies_left,
    in_the_way,
    is_late,
    patient_lead,
    play_rank,
    run_chips,
    run_end,
    runs_without,
    seen,
)
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.games.nain_jaune.actions import PASS
from nainjaune_env.games.nain_jaune.rules import Blocked
from nainjaune_env.games.nain_jaune.state import ALL_RANKS, cards_of_ranks, ranks_of
from nainjaune_env.registry import get_game, make_setup

CLOSER = NAMES.index("closer")
KINDS = ("first leads", "later leads before half-way", "late leads", "take over or decline", "pot card or plain")
"""Of decisions with at least two legal actions. Late: some seat has at most half of its cards left."""


@dataclass
class NeverDeclines:
    """An agent that plays the required rank, its pot card first, where ``agent`` would decline."""

    agent: Agent
    follower: Agent
    name: str = "never declines"

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        actions = self.agent.act(decisions, rng)
        return np.where(actions == PASS, self.follower.act(decisions, rng), actions)


@dataclass
class ActsAsAnother:
    """An agent that acts as ``other`` at decisions of one kind, an index into :data:`KINDS`; None: at all."""

    agent: Agent
    other: Agent
    kind: int | None
    name: str = "acts as another"

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        actions, others = self.agent.act(decisions, rng), self.other.act(decisions, rng)
        return others if self.kind is None else np.where(kinds_of(decisions) == self.kind, others, actions)


def kinds_of(decisions: DecisionBatch) -> NDArray[np.int64]:
    """Returns the kind of each decision ``(K,)``, an index into :data:`KINDS`."""
    tables, rules = decisions.tables, decisions.setup.kernel_rules
    cards = tables["cards"][:, : rules.players]
    lead = np.where((cards == rules.hand_size).all(axis=1), 0, np.where(2 * cards.min(axis=1) <= rules.hand_size, 2, 1))
    return np.where(tables["required_rank"] == 0, lead, np.where(decisions.legal >> PASS & 1, 3, 4))


class KnowsBlocks:
    """``closer`` that knows where runs are blocked; ``counts``: also what can go along before."""

    def __init__(self, *, counts: bool) -> None:
        self.name = "along" if counts else "blocked"
        self.counts = counts

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        actions = np.empty(len(decisions.index), np.int64)
        choose_all(decisions.tables, decisions.setup.kernel_rules, decisions.legal, self.counts, actions)
        return actions


@jit
def choose_all(tables: Any, rules: Any, legal: Any, counts: Any, actions: Any) -> None:
    """Writes the action of :class:`KnowsBlocks` at every table into ``actions (K,) int64``."""
    for i in range(tables.size):
        table = tables[i]
        if table.required_rank > 0:
            actions[i] = choose(CLOSER, table, rules, legal[i])
            continue
        lacked = ALL_RANKS  # by all others
        for seat in range(rules.players):
            lacked &= ALL_RANKS if seat == table.seat else np.int64(table.void[seat])
        gone = seen(table, rules) | cards_of_ranks(lacked)
        rank = patient_lead(table, rules, legal[i], True, gone)
        if counts and is_late(table, rules) and rules.blocked != Blocked.SKIP and has_no_reason(table, rules, gone, rank):
            rank = most_along(table, rules, gone)
        actions[i] = play_rank(rules, legal[i], rank)


@jit
def has_no_reason(table: Any, rules: Any, gone: Any, rank: Any) -> Any:
    """Returns whether ``closer`` leads ``rank``, late in a round, only because it is the lowest."""
    hand_ranks, cards = ranks_of(table.hand[table.seat]), table.cards[table.seat]
    end = run_end(hand_ranks, rank)
    returns = end == rules.top_rank or in_the_way(gone, rules, end) == 0
    if end - rank + 1 == cards or (returns and (cards <= LAST_CARDS or runs_without(table, rules, rank, end) <= 1)):
        return False
    return rank == lowest(hand_ranks) + 1 and run_chips(table, rules, 1, rules.top_rank) == 0


@jit
def most_along(table: Any, rules: Any, gone: Any) -> Any:
    """Returns the lead with which most ranks held go along before a certain block; the last one before it counts four times."""
    hand_ranks, best, best_score = ranks_of(table.hand[table.seat]), 0, -1
    for rank in range(1, rules.top_rank + 1):
        if not hand_ranks >> (rank - 1) & 1:
            continue
        score, last = 0, False
        for other in range(rank, rules.top_rank + 1):
            in_hand = hand_ranks >> (other - 1) & 1
            if not in_hand and copies_left(gone, other) == 0:
                break
            score, last = score + in_hand, in_hand == 1
        if score + 3 * last > best_score:
            best, best_score = rank, score + 3 * last
    return best


def main(arguments: list[str] | None = None) -> None:
    """Prints the price."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rule", choices=("declining", "blocked", "along", "kinds"))
    parser.add_argument("--deals", type=int, default=12000, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=3703, help="of the deals (default: %(default)s)")
    options = parser.parse_args(arguments)
    play: dict[str, Any] = {"deals": options.deals, "seed": options.seed, "players": 4}
    if options.rule == "declining":
        setup = make_setup("nain_jaune", "djeco", 4)
        strong = load_agent("zoo:strong", setup)
        never_declines = NeverDeclines(strong, load_agent("closer", setup))
        print(edge(strong, never_declines, preset="djeco", both_ways=True, **play))
        return
    if options.rule == "kinds":
        for preset in get_game("nain_jaune").presets:
            setup = make_setup("nain_jaune", preset, 4)
            closer, strong = load_agent("closer", setup), load_agent("zoo:strong", setup)
            for kind, name in ((None, "all"), *enumerate(KINDS)):
                gain = edge(ActsAsAnother(closer, strong, kind), closer, preset=preset, **play)
                print(f"{preset}, {name}: {mean_ci(gain.mean, gain.ci95)}")
        return
    for preset in get_game("nain_jaune").presets:
        gain = edge(KnowsBlocks(counts=options.rule == "along"), "closer", preset=preset, **play)
        print(f"{preset}: {mean_ci(gain.mean, gain.ci95)}")


if __name__ == "__main__":
    main()
