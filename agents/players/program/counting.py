"""The faults of bots that play among some agents: counted in each unit of work, merged over units, and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nainjaune_env.core.printable import printable

from .faults import FaultCounts

KEY = "bots"
"""The entry of results, and of a unit's payload, with the counts."""
Play = Callable[[Any], dict[str, Any]]


def faults_of(agent: object) -> FaultCounts | None:
    """Returns the counts of the bot that ``agent`` is or asks, which go on as it plays; None if it is none and asks none.

    An agent that asks another one hands its ``faults`` on.
    """
    counts = getattr(agent, "faults", None)
    return counts if isinstance(counts, FaultCounts) else None


def counted(play: Play, agents: Iterable[Any]) -> Play:
    """Returns ``play``, with the counts of the bots among ``agents`` in each payload; ``play`` itself without bots."""
    bots = [agent for agent in agents if faults_of(agent) is not None]
    if not bots:
        return play
    BotCounts.taken(bots)  # what they did before belongs to no unit

    def play_counted(unit: Any) -> dict[str, Any]:
        return {**play(unit), **BotCounts.taken(bots).to_dict()}

    return play_counted


@dataclass
class BotCounts:
    """The counts of each bot of a run."""

    by_agent: dict[str, FaultCounts] = field(default_factory=dict)
    """By the agent's name."""

    @classmethod
    def taken(cls, agents: Iterable[Any]) -> BotCounts:
        """Returns the counts of the bots among ``agents`` in this process since they were last taken."""
        counts = cls()
        for agent in agents:
            new = faults_of(agent)
            if new is not None:
                counts._of(agent.name).add(new.taken())
        return counts

    def add(self, payload: Mapping[str, Any]) -> None:
        """Adds the counts in the ``payload`` of a unit, as :meth:`to_dict` wrote them, if it has any."""
        for name, values in payload.get(KEY, {}).items():
            costs = Counter(values.get("costs", {}))
            self._of(name).add(FaultCounts(Counter(values["faults"]), values["decisions"], values["forfeited"], costs))

    def merge(self, other: BotCounts) -> None:
        """Adds the counts of ``other``."""
        for name, counts in other.by_agent.items():
            self._of(name).add(counts)

    def _of(self, name: str) -> FaultCounts:
        return self.by_agent.setdefault(name, FaultCounts())

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry ``bots`` of results; empty where no bot played, so that these results are as they always were."""
        rows = {name: _to_json(counts) for name, counts in sorted(self.by_agent.items())}
        return {KEY: rows} if rows else {}

    def lines(self) -> list[str]:
        """Returns a sentence for each bot that made a fault, or costs something."""
        shown = {name: counts for name, counts in sorted(self.by_agent.items()) if counts.faults or counts.costs}
        return [f"{printable(name)}: {words(counts)}" for name, counts in shown.items()]


def words(counts: FaultCounts) -> str:
    """Returns the counts in words, as in "3 faults (2 timeout, 1 illegal), 40 of 12,000 decisions forfeited"."""
    number = counts.faults.total()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.faults.items(), key=lambda item: (-item[1], item[0])))
    made = f"{number:,} fault{'s' * (number != 1)}" + (f" ({kinds})" if kinds else "")
    costs = "".join(f", {number:,} {what.replace('_', ' ')}" for what, number in sorted(counts.costs.items()))
    return f"{made}, {counts.forfeited:,} of {counts.decisions:,} decisions forfeited{costs}"


def _to_json(counts: FaultCounts) -> dict[str, Any]:
    return {
        "decisions": counts.decisions,
        "forfeited": counts.forfeited,
        "faults": {kind: counts.faults[kind] for kind in sorted(counts.faults)},
        **({"costs": dict(sorted(counts.costs.items()))} if counts.costs else {}),
    }
