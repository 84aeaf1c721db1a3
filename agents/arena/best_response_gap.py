"""What a seat gains by leaving an agent's play, where all others go on with it.

The most that anyone gains so is what the agent is exploitable by. Each responder that is tried gains as much or less, so the
largest gain found is a lower bound, and no more than that: nobody is shown to be unexploitable by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from .duplicate import Duplicate, Edge


@dataclass(frozen=True)
class Deviation:
    """The largest gain over an agent that was found among some responders."""

    chosen_by: list[Edge]
    """Each responder's edge over a field of the agent on the deals that chose among them."""
    gain: Edge
    """That of the one that was chosen, on deals of its own: having been the largest says nothing about these."""

    def to_dict(self) -> dict[str, Any]:
        """As ``exploit.json`` holds it."""
        return {
            "responder": self.gain.hero,
            **_gain(self.gain),
            "by_distance_from_lead": [{"mean": m.mean, "ci95": m.half_width} for m in self.gain.by_seat],
            "chosen_among": [{"responder": edge.hero, **_gain(edge)} for edge in self.chosen_by],
        }


def _gain(edge: Edge) -> dict[str, Any]:
    return {"gain": edge.mean, "ci95": edge.ci95, "deals": edge.moments.count}


def largest_gain(
    setup: Setup,
    target: Agent,
    responders: Sequence[Agent],
    *,
    deals: int,
    choosing: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> Deviation:
    """Choose the best of ``responders`` against ``target`` on ``choosing`` deals, and measure it on ``deals`` others.

    A responder sits in each seat in turn, the target in all others, as in ``duplicate``. Where there is one responder nothing is
    chosen. ``progress`` is told of deals done, of ``choosing * len(responders) + deals`` in all. Raises :class:`AgentError` where
    there is no responder, or names are not different.
    """
    names = [agent.name for agent in (target, *responders)]
    if not responders or len(set(names)) < len(names):
        raise AgentError(f"A target and one or more responders have different names, not {names!r}.")
    play = Duplicate(setup, [target, *responders], seed=seed)
    numbers = range(1, len(names))
    tried = [play.edge(number, 0, choosing, progress=progress) for number in numbers] if len(responders) > 1 else []
    best = max(numbers, key=lambda number: tried[number - 1].mean) if tried else 1
    return Deviation(tried, play.edge(best, 0, deals, first_deal=choosing, progress=progress))
