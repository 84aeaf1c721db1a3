"""A lower bound on best-response gains: what a responder gains in one seat while the agent plays all others.

The gain is the mean over the seats, by a seat's own payoff unless the task says otherwise. Its largest value over all
responders is the mean best-response gain, NashConv divided by the number of seats. The largest gain among the responders tried is
a lower bound of it, so it never shows that an agent cannot be exploited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from ..stats.intervals import to_json
from ..task import DEFAULT_TASK, Task
from .duplicate import Duplicate, Edge


@dataclass(frozen=True)
class BestResponseGap:
    """The largest gain over an agent found among some responders."""

    chosen_by: list[Edge]
    """Each responder's edge over a field of the agent, on the deals used to choose the best one."""
    gain: Edge
    """The chosen responder's edge on other deals, so that choosing the largest does not bias it."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the entries of ``exploit.json``."""
        return {
            "responder": self.gain.hero,
            **_gain(self.gain),
            "by_distance_from_lead": [{"mean": m.mean, "ci95": to_json(m.half_width)} for m in self.gain.by_seat],
            "chosen_among": [{"responder": edge.hero, **_gain(edge)} for edge in self.chosen_by],
        }


def _gain(edge: Edge) -> dict[str, Any]:
    return {"gain": edge.mean, "ci95": to_json(edge.ci95), "deals": edge.moments.count, "differ": edge.moments.differing}


def best_response_gap(
    setup: Setup,
    target: Agent,
    responders: Sequence[Agent],
    *,
    deals: int,
    choosing: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    progress: Callable[[int], object] | None = None,
) -> BestResponseGap:
    """Chooses the best of ``responders`` against ``target`` on ``choosing`` deals, and measures it on ``deals`` others.

    A responder sits in each seat in turn and the target in all others, as in ``duplicate``. A single responder is not put through
    the choice. ``task`` is that of ``Duplicate``. ``progress`` is called with the number of deals done, in all ``choosing *
    len(responders) + deals``. Raises :class:`AgentError` if there is no responder or two agents share a name.
    """
    names = [agent.name for agent in (target, *responders)]
    if not responders or len(set(names)) < len(names):
        raise AgentError(f"Expected a target and at least one responder, all with different names, not {names!r}.")
    play = Duplicate(setup, [target, *responders], seed=seed, task=task)
    numbers = range(1, len(names))
    tried = [play.edge(number, 0, choosing, progress=progress) for number in numbers] if len(responders) > 1 else []
    best = max(numbers, key=lambda number: tried[number - 1].mean) if tried else 1
    return BestResponseGap(tried, play.edge(best, 0, deals, first_deal=choosing, progress=progress))
