"""OpenSpiel's games as a source of deals. OpenSpiel itself is not imported."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import GameError

from .foreign_game import ForeignGame
from .policies import SeatedPolicy, outcome_of


class OpenSpielGame(ForeignGame):
    """A game in which one player acts at a time.

    The k-th chance node of each game on a deal takes its outcome by the deal's k-th uniform number. A player observes the
    ``information_state_tensor``, where the game provides none the ``observation_tensor``; policies of OpenSpiel get the state.
    """

    by_state = True

    def __init__(self, game: Any, seed: int) -> None:
        """Raises :class:`GameError` for simultaneous moves, chance that cannot be set, one player, and no tensor."""
        self.seed = seed
        self._game = game
        self.name = str(game)
        self.seat_names = [f"player {seat}" for seat in range(game.num_players())]
        about = game.get_type()
        if about.dynamics.name != "SEQUENTIAL":
            raise GameError(f"Expected a game with one player to act at a time, not one of {about.dynamics.name}: {self.name}.")
        if about.chance_mode.name == "SAMPLED_STOCHASTIC":
            raise GameError(f"Expected chance nodes whose outcomes are listed, and those of {self.name} are drawn inside.")
        if len(self.seat_names) < 2:
            raise GameError(f"Expected two or more players, and {self.name} has {len(self.seat_names)}.")
        if not about.provides_information_state_tensor and not about.provides_observation_tensor:
            raise GameError(f"Expected a game whose players observe a tensor, and {self.name} provides none.")
        self._recall = about.provides_information_state_tensor
        self._actions = int(game.num_distinct_actions())

    def prepare(self, number: int) -> None:
        """Has nothing to do: states are made from the game."""

    def table(self, number: int, seated: Sequence[SeatedPolicy]) -> tuple[Sequence[float], int]:
        """Plays a game; returns the returns of its players, and the one that acts first."""
        rng, state, first = random.Random(number), self._game.new_initial_state(), -1
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(outcome_of(state.chance_outcomes(), rng.random()))
                continue
            player = state.current_player()
            first = player if first < 0 else first
            seat = seated[player]
            legal = state.legal_actions()
            if seat.probabilities is not None:
                action = outcome_of(seat.distribution(state, legal), seat.rng.random())
            else:
                tensor = state.information_state_tensor(player) if self._recall else state.observation_tensor(player)
                mask = np.zeros(self._actions, np.int8)
                mask[legal] = 1
                action = seat.act(np.asarray(tensor, np.float32), mask)
            state.apply_action(action)
        return [self.number(reward, seat) for seat, reward in enumerate(state.returns())], max(first, 0)
