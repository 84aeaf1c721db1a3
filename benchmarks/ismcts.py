"""OpenSpiel's IS-MCTS and agents of ours in the same seats, on the same deals, in a field of one of our agents.

    python benchmarks/ismcts.py --preset djeco --players 4 --deals 50 --simulations 50 --agents tally@search=50 --field tally

A block is one deal, as in ``nainjaune evaluate``: the hero plays it in each seat, the field has all other seats, and the value is
the mean over seats of the hero's payoff less what the field gets in the same seat when it plays the deal alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.open_spiel import load_game

Player = Callable[[Any], int]
"""Chooses an action at a state of OpenSpiel."""


def agent_player(name: str, game: Any, seed: int) -> Player:
    """Returns our agent called ``name`` as a player, which sees only what the seat to act may know."""
    agent, rng = load_agent(name, game.setup), np.random.default_rng(seed)
    batch = Batch(game.setup, 1, skip_forced=False, autoreset=False)

    def choose(state: Any) -> int:
        batch.set_tables(0, state.table, trusted=True)
        return int(agent.act(DecisionBatch(batch, np.zeros(1, np.int64)), rng)[0])

    return choose


def ismcts_player(game: Any, seed: int, simulations: int, uct_c: float) -> Player:
    """Returns OpenSpiel's Python IS-MCTS bot with uniformly random rollouts as a player."""
    random = np.random.RandomState(seed)
    bot = ISMCTSBot(game, RandomRolloutEvaluator(1, random), uct_c, simulations, random_state=random)
    # the bot's own sampler takes its seed from the clock
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random.random_sample))
    return lambda state: int(bot.step(state))


def payoffs(game: Any, seed: int, players: list[Player]) -> list[float]:
    """Returns the payoffs of the deal ``seed``, played by ``players`` in seat order."""
    state = game.seeded_state(seed)
    while not state.is_terminal():
        state.apply_action(players[state.current_player()](state))
    returns: list[float] = state.returns()
    return returns


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="djeco")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--deals", type=int, default=50, help="number of deals: those of the seeds from --seed on")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--simulations", type=int, default=50, help="simulations of IS-MCTS a decision")
    parser.add_argument("--uct-c", type=float, default=15.0, help="its constant of exploration, in the game's unit")
    parser.add_argument("--agents", nargs="*", default=["tally@search=50"], help="our agents, measured on the same deals")
    parser.add_argument("--field", default="tally")
    options = parser.parse_args(arguments)
    game = load_game(f"python_nain_jaune(preset={options.preset},players={options.players})")
    ismcts = f"ismcts({options.simulations})"
    edges = {name: Moments() for name in (ismcts, *options.agents)}
    for seed in range(options.seed, options.seed + options.deals):
        field = agent_player(options.field, game, seed)
        base = payoffs(game, seed, [field] * options.players)
        for name, edge in edges.items():
            gains = []
            for seat in range(options.players):
                if name == ismcts:
                    hero = ismcts_player(game, seed, options.simulations, options.uct_c)
                else:
                    hero = agent_player(name, game, seed)
                seats = [hero if other == seat else field for other in range(options.players)]
                gains.append(payoffs(game, seed, seats)[seat] - base[seat])
            edge.add(float(np.mean(gains)))
        shown = "   ".join(f"{name} {edge.mean:+.3f} ± {edge.half_width:.3f}" for name, edge in edges.items())
        print(f"deal {seed - options.seed + 1}: {shown}", flush=True)


if __name__ == "__main__":
    main()
