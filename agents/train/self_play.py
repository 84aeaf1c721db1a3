"""Advantages in self-play with one row a decision, where the rows of a table are decisions of different seats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def seat_advantages(
    seat: NDArray[np.int64],
    rewards: NDArray[np.float32],
    value: NDArray[np.float32],
    ended: NDArray[np.bool_],
    next_seat: NDArray[np.int64],
    next_value: NDArray[np.float32],
    *,
    gamma: float = 1.0,
    lam: float = 0.95,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Returns generalised advantage estimates of T decisions at each of B tables, and which of them are known; both ``(T, B)``.

    ``seat (T, B)`` took the decision and ``value (T, B)`` is the critic's estimate then; ``rewards (T, B, n)`` is what the step
    credits each seat with, as environments with ``opponents="self"`` return it; ``ended (T, B)`` says whether the episode ended
    with it. After the last step ``next_seat (B,)`` is to act, and ``next_value (B,)`` is the estimate for it.

    What follows a decision is the next one of the same seat in the episode: the reward is what the seat is credited with up to
    it, and ``gamma`` discounts its value. A decision whose seat has no later one, in an episode that goes on, is not known: its
    advantage is 0, and its value stands for the rest in those before it.

    Schulman, Moritz, Levine, Jordan and Abbeel, "High-dimensional continuous control using GAE", 2016, eq. 16. With whole
    episodes these are the advantages of :func:`~nainjaune_agents.train.ppo.gae`.
    """
    steps, tables, n = rewards.shape
    advantage, known = np.zeros((steps, tables), np.float32), np.zeros((steps, tables), np.bool_)
    row = np.arange(tables)
    # by table and seat, what follows: the rewards up to the seat's next decision or the end, and there its value and advantage
    gained, later_value, later_advantage = (np.zeros((tables, n)) for _ in range(3))
    follows = np.zeros((tables, n), np.bool_)
    later_value[row, next_seat] = next_value
    follows[row, next_seat] = True
    for t in reversed(range(steps)):
        last = ended[t]
        gained[last] = later_value[last] = later_advantage[last] = 0
        follows[last] = True
        gained += rewards[t]
        now = row, seat[t]
        estimate = gained[now] + gamma * later_value[now] - value[t] + gamma * lam * later_advantage[now]
        known[t] = follows[now]
        advantage[t] = np.where(known[t], estimate, 0)
        gained[now], later_value[now], later_advantage[now], follows[now] = 0, value[t], advantage[t], True
    return advantage, known
