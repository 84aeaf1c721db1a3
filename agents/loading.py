"""Agents by name: heuristics, and the runs of trainers."""

from __future__ import annotations

from pathlib import Path

from nainjaune_env.errors import AgentError, choose_one
from nainjaune_env.spec import Setup

from .agent import Agent
from .heuristics import heuristics

SAMPLED = "@sample"
"""Ending of a run's name that asks for actions drawn from the policy instead of the likeliest."""


def load_agent(name: str, setup: Setup) -> Agent:
    """The agent called ``name``, for tables with ``setup``.

    A heuristic's name, or the path of a run's folder or checkpoint (``runs/a``, also ``ppo:runs/a``; with ``@sample`` at
    the end it draws from its policy). Raises :class:`AgentError` where nobody answers to the name,
    :class:`~nainjaune_env.errors.CheckpointError` where a run is not whole or not for such tables.
    """
    known = heuristics(setup.game.name)
    if name in known:
        return known[name]
    text = name.removesuffix(SAMPLED)
    prefix, _, rest = text.partition(":")
    path = Path(rest if rest and prefix.isidentifier() else text)
    if path.exists():
        from .net_agent import load_net_agent  # only here does torch come in

        algorithm = prefix if path != Path(text) else None
        return load_net_agent(path, setup, name, algorithm=algorithm, stochastic=name.endswith(SAMPLED))
    if "/" in name or path.suffix:
        raise AgentError(f"There is no run or checkpoint at {str(path)!r}.")
    raise AgentError(choose_one("agent", name, known) + " The path of a run's folder is also an agent.")
