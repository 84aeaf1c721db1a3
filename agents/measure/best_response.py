"""A lower bound on best-response gains: what a responder gains in one seat while the agent plays all others.

The gain is the mean over the seats, by a seat's own payoff unless the task says otherwise. Its largest value over all
responders is the mean best-response gain, NashConv divided by the number of seats. The largest gain among the responders tried is
a lower bound of it, so it never shows that an agent cannot be exploited.

The responder is chosen on deals that never rate anybody, and measured on others, so that choosing the largest gain does not bias
it. The gain is measured with control variates (``control_variates``) where they apply: the same mean with a smaller variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError, ConfigError, as_sentence, quoted

from ..players.program.counting import BotCounts
from ..players.program.player import BotAgent
from ..players.program.settings import BotSettings
from .control_variates import check
from .cross_table import CrossTable, fold
from .distributed.units import Executor
from .edges import Edge
from .own_game import OwnGame
from .plan import Measurement, make_plan
from .stats.differences import Differences, interval_notes
from .stats.intervals import to_json
from .store import Store


@dataclass(frozen=True)
class BestResponseGap:
    """The largest gain over an agent found among some responders."""

    chosen_by: list[Edge]
    """Each responder's edge over a field of the agent, on the deals used to choose the best one."""
    gain: Edge
    """The chosen responder's edge on other deals, so that choosing the largest does not bias it."""
    duplicate: Differences | None = None
    """The same edge without control variates; None if it was measured without them anyway."""
    uncontrolled: str | None = None
    """Why the gain was measured without control variates, in a sentence."""
    bots: BotCounts = field(default_factory=BotCounts)
    """What the bots among the agents did wrong."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``), and about control variates that do not apply."""
        notes = interval_notes(edge.moments for edge in (*self.chosen_by, self.gain))
        return notes if self.uncontrolled is None else [*notes, self.uncontrolled]

    def to_dict(self) -> dict[str, Any]:
        """Returns the entries of ``exploit.json``."""
        return {
            "responder": self.gain.hero,
            **_gain(self.gain),
            **({} if self.duplicate is None else {"duplicate": self.duplicate.estimate.to_dict()}),
            "by_distance_from_lead": [stats.estimate.to_dict() for stats in self.gain.by_seat],
            "chosen_among": [{"responder": edge.hero, **_gain(edge)} for edge in self.chosen_by],
            "notes": self.notes,
            **self.bots.to_dict(),
        }


def _gain(edge: Edge) -> dict[str, Any]:
    return {"gain": edge.mean, "ci95": to_json(edge.ci95), "deals": edge.moments.count, "differ": edge.moments.differing}


def best_response_gap(
    source: OwnGame,
    target: Agent,
    responders: Sequence[Agent],
    *,
    deals: int,
    choosing: int,
    store: Store | None = None,
    executor: Executor | None = None,
    bots: BotSettings | None = None,
    progress: Callable[[int], object] | None = None,
    chunk: int | None = None,
) -> BestResponseGap:
    """Chooses the best of ``responders`` against ``target`` on ``choosing`` deals, and measures it on ``deals`` others.

    A responder sits in each seat in turn and the target in all others. A single responder is not put through the choice. The best
    is measured with control variates where they apply. ``progress`` is called with numbers of deals, those of each responder.
    ``store``, ``executor`` and ``bots`` are as in ``Measurement``, ``chunk`` as in ``make_plan``. Raises :class:`AgentError` if
    there is no responder or two agents share a name.
    """
    names = [agent.name for agent in (target, *responders)]
    if not responders or len(set(names)) < len(names):
        raise AgentError(f"Expected a target and at least one responder, all with different names, not {quoted(names)}.")
    counts = BotCounts()

    def table_of(source: OwnGame, heroes: Sequence[Agent], deals: int, *, controlled: bool = False) -> CrossTable:
        plan = make_plan(source, [*heroes, target], deals, field_last=True, controlled=controlled, chunk=chunk)
        measurement = Measurement(
            plan, [*heroes, target], store=store, executor=executor, bots=bots, progress=progress
        )  # fmt: skip
        table = fold(measurement, one_way=True)
        counts.merge(table.bots)
        return table

    tried: list[Edge] = []
    if len(responders) > 1:
        tried = table_of(replace(source, purpose="choosing"), responders, choosing).edges
    best = responders[max(range(len(tried)), key=lambda number: tried[number].mean) if tried else 0]
    uncontrolled = _without_control(source, best, target)
    (edge,) = table_of(source, [best], deals, controlled=uncontrolled is None).edges
    if edge.controlled is None:
        return BestResponseGap(tried, edge, uncontrolled=uncontrolled, bots=counts)
    return BestResponseGap(tried, edge.controlled, edge.moments, bots=counts)


def _without_control(source: OwnGame, responder: Agent, target: Agent) -> str | None:
    """Returns why control variates do not apply, in a sentence; None if they do."""
    try:
        check(source.setup, responder, target, source.task)
    except (AgentError, ConfigError) as error:
        return f"The gain is measured without control variates. {as_sentence(error)}"
    if isinstance(target, BotAgent):
        return f"The gain is measured without control variates: {target.name} would be asked hundreds of times as often."
    return None
