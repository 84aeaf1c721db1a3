"""The same work a step in other libraries: legal moves, a random choice, the move, the next observation.

Each is used the quickest way we found through its public Python interface. Both step one game at a time.
"""

from __future__ import annotations

import random
from collections.abc import Callable

STEPS = 500
"""Moves that one call of a runner makes."""


def crazy_eights(players: int) -> Callable[[], int]:
    """OpenSpiel's ``crazy_eights``, in C++: observations are written into one buffer.

    The cards drawn from the deck are chance moves there. They are made, and not counted.
    Raises ``ImportError`` where OpenSpiel is missing.
    """
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("crazy_eights", {"players": players})
    observation = make_observation(game)
    choose = random.Random(0).choice
    state = game.new_initial_state()

    def run() -> int:
        nonlocal state
        made = 0
        while made < STEPS:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                state.apply_action(choose(state.legal_actions()))  # one deck, so every card is as likely
            else:
                observation.set_from(state, state.current_player())
                state.apply_action(choose(state.legal_actions()))
                made += 1
        return made

    return run


def uno(players: int) -> Callable[[], int]:
    """RLCard's ``uno``, in Python: every step gives the next observation and the legal moves.

    Raises ``ImportError`` where RLCard is missing.
    """
    import rlcard

    env = rlcard.make("uno", config={"seed": 0, "game_num_players": players})
    choose = random.Random(0).choice
    state, _ = env.reset()

    def run() -> int:
        nonlocal state
        for _ in range(STEPS):
            if env.is_over():
                state, _ = env.reset()
            state, _ = env.step(choose(list(state["legal_actions"])))
        return STEPS

    return run


PEERS: dict[str, Callable[[int], Callable[[], int]]] = {
    "OpenSpiel crazy_eights": crazy_eights,
    "RLCard uno": uno,
}
"""What a table calls it -> what makes its runner for a number of players."""
