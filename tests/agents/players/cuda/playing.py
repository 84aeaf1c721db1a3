"""The same games and rollouts on any device, as plain numbers; run under CUDA's simulator by `test_simulator`.

NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python -W error -m tests.agents.players.cuda.playing
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure import plan as plan_module
from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.stats.sequential import SequentialTest
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search import SearchAgent, rollouts_by
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.registry import make_setup

TABLES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "classic": ("classic", 4, {}),
    "skip": ("skip", 3, {"decline": "always"}),
    "batasaurus": ("batasaurus", 3, {}),
    "known cards": ("batasaurus", 2, {"memory": "perfect"}),
}
"""Two games; seats that must remember, and that need not."""


def setups() -> dict[str, Setup]:
    """By name."""
    return {name: make_setup(None, preset, players, **knobs) for name, (preset, players, knobs) in TABLES.items()}


def play(setup: Setup, device: str, deals: int = 5) -> dict[str, Any]:
    """All heuristics in all seats: what is done, and what it comes to."""
    agents = [agent for name, agent in heuristics(setup.game.name).items() if name != "random"]
    batch = make_batch(setup, deals, seed=3, autoreset=False, device=device)
    seating = np.random.default_rng(1).integers(0, len(agents), (deals, setup.players))
    done: list[list[int]] = []

    def stepped(actions: np.ndarray) -> None:
        done.append(actions.tolist())

    payoff = play_out(batch, agents, seating, np.zeros(seating.shape, np.uint64), after_step=stepped)  # none draws
    while not any(done[-1]):  # a GPU looks now and then whether all are done
        done.pop()
    return {"payoff": payoff.tolist(), "actions": done}


def search(setup: Setup, device: str) -> dict[str, Any]:
    """What searches find, by each kind of rollouts that is compiled, with and without halving."""
    batch, draws = Batch(setup, 3, seed=2), streams(3, 3)
    for _ in range(6):
        batch.step(batch.sample(draws))
    decisions, results = DecisionBatch(batch, np.arange(3)), {}
    for name, objective in (("random", "own"), ("longest", "own"), ("cheapest", "own"), ("longest", "centred")):
        if name not in heuristics(setup.game.name):
            continue
        agent = load_agent(name, setup)
        options: dict[str, Any] = {}
        if device == "cuda":
            from nainjaune_agents.players.cuda.rollouts import gpu_rollouts

            rollouts = gpu_rollouts(agent, setup, objective)
            options = {"draw": rollouts.draw, "at_once": 12}
        else:
            rollouts = rollouts_by(agent, setup, objective)
        for halving in (False, True):
            expert = SearchAgent("expert", rollouts, 3, halving=halving, **options)
            values = expert.evaluate_actions(decisions, np.random.default_rng(5))
            results[f"{name}, {objective}, halving {halving}"] = [
                np.nan_to_num(values.mean).tolist(),
                values.count.tolist(),
                values.action.tolist(),
            ]
    return results


def compare(setup: Setup, device: str) -> dict[str, Any]:
    """A tournament and a comparison of two, with all that is counted; in so few deals at once that there are several goes."""
    agents = [load_agent(name, setup) for name in ("longest", "tally")]
    options: dict[str, Any] = {"deals": 5, "seed": 1, "task": Task(start={"pots": [0, 8]}), "device": device}
    with (
        patch.object(plan_module, "ROW", 2),
        patch.object(plan_module, "TABLES_AT_ONCE", 6),
        patch.dict(plan_module.TIMES_AT_ONCE, {"cuda": 2}),
    ):
        tables = {
            "tournament": cross_table(setup, agents, measure=True, **options).to_dict(),
            "test": cross_table(setup, agents, test=SequentialTest(), **options).to_dict(),
        }
    for table in tables.values():
        assert table.pop("device", "cpu") == device
    assert ("milliseconds_a_decision" in tables["tournament"]) == (device == "cpu")
    tables["tournament"].pop("milliseconds_a_decision", None)
    return tables


def everything(device: str) -> dict[str, Any]:
    """All of it, by name."""
    results: dict[str, Any] = {name: play(setup, device) for name, setup in setups().items()}
    results["arena"] = compare(make_setup(None, "djeco", 2), device)
    for name in ("classic", "known cards"):
        with patch("nainjaune_agents.players.cuda.rollouts.COUNTED", 2) if device == "cuda" else nullcontext():  # in three goes
            results[f"search, {name}"] = search(setups()[name], device)
    return results


def main() -> None:
    json.dump(everything("cuda"), sys.stdout)


if __name__ == "__main__":
    main()
