"""Positions to ask agents about, and small setups: what the tests of agents have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_agents.players.networks.policy_value import PolicyValueNet
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentStates
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup

Net = TypeVar("Net", bound=PolicyValueNet)


def turns(setup: Setup, seed: int, *, tables: int = 8, steps: int = 25, **options: Any) -> Iterator[DecisionBatch]:
    """What every table asks at every step of random play, rounds without end."""
    batch, draws = Batch(setup, tables, seed=seed, **options), streams(seed, tables, stream=9)
    for _ in range(steps):
        yield DecisionBatch(batch, np.arange(tables))
        batch.step(batch.sample(draws))


def asked(
    setup: Setup, agents: Sequence[Agent], seed: int, *, tables: int = 8, steps: int = 25, **options: Any
) -> Iterator[list[DecisionBatch]]:
    """The same for agents that may remember: a turn for each of them at every step, with what it left in its last ones.

    Each is asked at every table, as if it sat in all seats; where the play goes is not up to any of them.
    """
    batch, draws = Batch(setup, tables, seed=seed, **options), streams(seed, tables, stream=9)
    memories = RecurrentStates(batch, agents)
    for _ in range(steps):
        asking = [memories.decision_batch(number, np.arange(tables)) for number in range(len(agents))]
        yield asking
        for number, decisions in enumerate(asking):
            memories.keep(number, decisions)
        batch.step(batch.sample(draws))
        memories.stepped()


def with_memory_of(decisions: DecisionBatch, batch: Batch, which: Sequence[int] | None = None) -> DecisionBatch:
    """The decisions at the tables ``which`` (none: all) of another ``batch``, with a copy of the state in ``decisions``."""
    index = np.arange(batch.num_tables) if which is None else np.array(which)
    return DecisionBatch(batch, index, None if decisions._state is None else decisions.state[index].copy())


def is_legal(decisions: DecisionBatch, actions: NDArray[np.int64]) -> bool:
    """Whether every one of ``actions (K,)`` may be played."""
    return bool((decisions.legal >> actions & 1).all())


def small(players: int = 3, **knobs: Any) -> Setup:
    """A preset of the usual game with a fast end."""
    return make_setup("nain_jaune", "classic", players, **{"max_rounds": 2, **knobs})


def stirred(net: Net, seed: int = 1) -> Net:
    """The net with all its weights moved at random: with a will of its own, and to which it matters what it remembers."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return net
