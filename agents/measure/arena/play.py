"""Playing tables to the end with an agent in each seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng, SeatAssignment
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch


def play_out(
    batch: Batch,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    rngs: Sequence[Rng] | Callable[[int, NDArray[np.int64]], Rng],
    *,
    after_step: Callable[[NDArray[np.int64]], None] | None = None,
) -> NDArray[np.int64]:
    """Plays every table of ``batch`` (made with ``autoreset=False``) to the end of its episode; returns the payoffs ``(B, n)``.

    ``seating (B, n)`` are indices into ``agents``. Each agent has its own generator in ``rngs``, or ``rngs(number, index)``
    returns the generator of agent ``number`` at the tables ``index``, as ``SeatAssignment`` takes it. ``after_step`` is called
    with the actions ``(B,)`` after each step.

    On a GPU only some agents can play, and agents that draw have other random numbers: see ``cuda.players``.

    Raises :class:`AgentError` if an agent returns anything but one legal action for each decision, or cannot play there.
    """
    if batch.options.autoreset:
        raise AgentError("play_out needs a batch that stops at the end of an episode: Batch(..., autoreset=False).")
    generators = rngs if callable(rngs) else lambda number, _: rngs[number]
    if batch.device == "cuda":
        from ...players.cuda.players import play_out_on_gpu

        return play_out_on_gpu(cast(Any, batch), agents, seating, generators, after_step=after_step)
    payoff = batch.reward.astype(np.int64)
    seated = SeatAssignment(batch, agents, seating, generators)
    while not batch.done.all():
        actions = np.zeros(batch.num_tables, np.int64)
        playing = np.flatnonzero(~batch.done)
        actions[playing] = seated.actions(playing)
        batch.step(actions)
        seated.stepped()
        payoff += batch.reward
        if after_step is not None:
            after_step(actions)
    return payoff
