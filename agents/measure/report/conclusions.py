"""A tournament's result in sentences."""

from __future__ import annotations

from itertools import combinations

from ..cross_table import CrossTable
from ..edges import Edge
from .format_ci import format_ci, no_interval
from .text import short_names, shown_names


def edge_text(edge: Edge, unit: str) -> str:
    """Returns the edge with its interval, or with the reason why there is none."""
    few = no_interval(edge.moments)
    return format_ci(edge.estimate, unit, signed=True) + (f" ({few})" if few else "")


def headline(result: CrossTable) -> str:
    """Returns the main conclusion in a line."""
    if result.one_way:
        hero, *rivals = short_names(result.plan.agents)
        return f"{hero} in a field of {rivals[0]}" if len(rivals) == 1 else f"{hero} in fields of {len(rivals)} others"
    best = strongest(result)
    names = shown_names(result.plan.agents)
    if best is not None:
        others = [names[agent] for agent in result.plan.agents if agent != best]
        return (
            f"{names[best]} is stronger than {others[0]}"
            if len(others) == 1
            else f"{names[best]} is the strongest of {len(names)}"
        )
    if len(names) == 2:
        return f"Neither {' nor '.join(names.values())} is stronger"
    return f"None of {len(names)} is stronger than all others"


def strongest(result: CrossTable) -> str | None:
    """Returns the agent that is :func:`stronger` than every other; None if there is none, and one way."""
    if result.one_way:
        return None
    for agent in result.plan.agents:
        if all(stronger(result, agent, other) for other in result.plan.agents if other != agent):
            return agent
    return None


def stronger(result: CrossTable, one: str, other: str) -> bool:
    """Returns whether ``one`` is stronger than ``other``, as ``cross_table`` defines it."""
    return result.advantage(one, other).estimate.sign > 0


def sentences(result: CrossTable) -> list[str]:
    """Returns a conclusion on each pair: pairs with the strongest agent first, and the closest of them first."""
    names, unit = shown_names(result.plan.agents), result.plan.setup.game.unit
    if result.one_way:
        verbs = {1: "gains", -1: "loses", 0: "shows no significant difference"}
        return [
            f"{names[edge.hero]} {verbs[edge.estimate.sign]} in a field of {names[edge.field_name]}: "
            f"{edge_text(edge, unit)} {unit} a round."
            for edge in result.edges
        ]
    best = strongest(result)

    def order(pair: tuple[str, str]) -> tuple[bool, float]:
        return best not in pair, abs(result.edge(*pair).mean) + abs(result.edge(*pair[::-1]).mean)

    return [_pair(result, names, *pair) for pair in sorted(combinations(result.plan.agents, 2), key=order)]


def _pair(result: CrossTable, names: dict[str, str], one: str, other: str) -> str:
    if stronger(result, other, one):
        one, other = other, one
    forth, back = result.edge(one, other), result.edge(other, one)
    unit = result.plan.setup.game.unit
    forth_text, back_text = edge_text(forth, unit), edge_text(back, unit)
    edges = (
        f"{names[one]} makes {forth_text} {unit} a round in a field of {names[other]}, "
        f"{names[other]} {back_text} in a field of {names[one]}"
    )
    if stronger(result, one, other):
        by = format_ci(result.advantage(one, other).estimate, unit)
        what = f"{names[one]} is stronger than {names[other]} by {by} {unit} a round"
    elif forth.estimate.sign > 0 and back.estimate.sign > 0:
        what = f"{names[one]} and {names[other]} each gain in a field of the other"
    elif forth.estimate.sign < 0 and back.estimate.sign < 0:
        what = f"{names[one]} and {names[other]} each lose in a field of the other"
    else:
        what = f"{result.deals:,} deals show no significant difference between {names[one]} and {names[other]}"
    return f"{what}: {edges}."
