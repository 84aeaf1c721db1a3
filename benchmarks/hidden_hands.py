"""How well the other hands of Nain Jaune are predicted: by samples, with and without policy inference, and by networks.

Decisions of an agent's self-play in rounds that nothing was learned from. *Samples* are hands that fit what the seat knows, all
alike or weighted by how likely the agent would have played as the others did (docs/search.md). *Networks* are multilayer
perceptrons that learn the hands from the observation, also with what it has no trace of: how many cards of each rank every other
seat has played, or its latest leads in order. Each is rated by its cross-entropy in nats a hidden card, which is of a rank.

  python benchmarks/hidden_hands.py --agent zoo:strong --preset skip --players 2 --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.cli.arguments import integer
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search.inference import CANDIDATES, PolicyInference, SeenRounds, policy_inference
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import generator_states
from nainjaune_env.games.nain_jaune.actions import ACTIONS
from nainjaune_env.games.nain_jaune.state import NUM_RANKS
from nainjaune_env.registry import make_setup

KEPT = 0.2
"""The share of decisions that is kept: those of one round are much alike."""
LEADS = 6
"""The latest leads of a seat that a network is shown."""
LEAD = 3 * NUM_RANKS + 1
"""Numbers of a lead: its rank as one-hot, and, as it was then, cards played by rank, ranks proven absent, and the hand's size."""
RANK_OF = np.array([RANKS.find(action[0]) for action in ACTIONS])
"""The rank from 0 of the card that each action plays."""
SAMPLES = 800
"""Hands for each decision."""
ROWS = ("samples, all alike", "samples by policy inference", "observation", "and cards played by each", "and leads in order")


@dataclass(frozen=True)
class Seen:
    """N decisions, with M other seats: the next one first."""

    observation: Tensor
    """``(N, size)``."""
    played: Tensor
    """How many cards of each rank each other seat has played, ``(N, M, 13)``."""
    leads: Tensor
    """Each other seat's latest leads, the last one last, ``(N, M, LEADS, LEAD)``; zeros where it has led less often."""
    hands: Tensor
    """How many cards of each rank each other seat holds, ``(N, M, 13)``."""
    losses: NDArray[np.float64]
    """Of samples, all alike and by policy inference: nats a hidden card; empty where they were not asked for."""


def counts_of(cards: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Returns how many cards of each rank the sets ``cards (...)`` have, ``(..., 13)``."""
    bits = cards[..., None] >> np.arange(4 * NUM_RANKS) & 1
    return bits.reshape(*cards.shape, 4, NUM_RANKS).sum(-2).astype(np.uint8)


def decisions_of(setup: Setup, name: str, rounds: int, seed: int, *, samples: int = 0) -> Seen:
    """Plays ``rounds`` with the agent ``name`` in every seat, and returns some of its decisions.

    With ``samples`` the hands are predicted by as many for each of them. Raises :class:`AgentError` then for an agent that gives
    no probabilities.
    """
    agent, rng, n = load_agent(name, setup), np.random.default_rng(seed), setup.players
    inference = policy_inference(agent, setup) if samples else None
    batch = Batch(setup, rounds, seed=seed, autoreset=False, skip_forced=False, log=samples > 0)
    leads = np.zeros((rounds, n, LEADS, LEAD), np.uint8)
    kinds: tuple[list[Any], ...] = ([], [], [], [])
    nats, actions = np.zeros(2), np.zeros(rounds, np.int64)
    while (index := np.flatnonzero(~batch.done)).size:
        actions[index] = agent.act(DecisionBatch(batch, index), rng)
        kept = index[(batch.mask[index].sum(1) > 1) & (rng.random(len(index)) < KEPT)]
        rows, others = np.arange(len(kept))[:, None], (batch.seat[kept][:, None] + np.arange(1, n)) % n
        tables = batch.tables[kept]
        hands = counts_of(tables["hand"][rows, others])
        parts = batch.observation[kept], counts_of(tables["played"][rows, others]), leads[kept[:, None], others], hands
        for kind, part in zip(kinds, parts, strict=True):
            kind.append(part)
        if inference is not None and kept.size:
            states = generator_states(rng.random(len(kept)))
            nats += losses_of_samples(inference, DecisionBatch(batch, kept, None, True), others, hands, states, samples)
        record_leads(leads, batch.tables, index, actions)
        batch.step(actions)
    whole = [torch.from_numpy(np.concatenate(kind)) for kind in kinds]
    return Seen(*whole, nats / int(whole[-1].sum()) if samples else np.zeros(0))


def record_leads(leads: NDArray[np.uint8], tables: Any, index: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
    """Adds to ``leads (tables, seats, LEADS, LEAD)`` the ``actions`` at the tables ``index`` that lead."""
    index = index[tables["required_rank"][index] == 0]
    tables, seat, row = tables[index], tables["seat"][index], np.arange(len(index))
    before = counts_of(tables["played"]).sum(1)
    latest = np.zeros((len(index), LEAD), np.uint8)
    latest[:, NUM_RANKS : 2 * NUM_RANKS] = before
    latest[:, 2 * NUM_RANKS : -1] = tables["void"][row, seat][:, None] >> np.arange(NUM_RANKS) & 1
    latest[:, -1] = tables["cards"][row, seat]
    latest[row, RANK_OF[actions[index]]] = 1
    leads[index, seat, :-1] = leads[index, seat, 1:]
    leads[index, seat, -1] = latest


def losses_of_samples(
    inference: PolicyInference,
    decisions: DecisionBatch,
    others: NDArray[np.int64],
    hands: NDArray[np.uint8],
    states: NDArray[np.uint64],
    samples: int,
) -> NDArray[np.float64]:
    """Returns the nats that samples lose at ``decisions (K,)``, all alike and by policy inference, ``(2,)``.

    ``hands (K, M, 13)`` are those of the seats ``others (K, M)``. A rank has the weighted mean number of its cards in the
    samples, and one card in so many more.
    """
    count, seen = len(others), SeenRounds(decisions.tables, decisions.history)
    weighted = inference.weighted(decisions.setup, seen, np.repeat(np.arange(count), samples // CANDIDATES), states)
    drawn = counts_of(weighted.tables["hand"][np.arange(count * samples)[:, None], others.repeat(samples, 0)])
    drawn = drawn.reshape(count, samples, *hands.shape[1:])
    nats = weighted.log_likelihood.reshape(count, samples)
    likely = np.exp(nats - nats.max(1, keepdims=True))
    losses = np.zeros(2)
    for row, weight in enumerate((np.ones_like(likely), likely)):
        expected = np.einsum("ks,ksmr->kmr", weight / weight.sum(1, keepdims=True), drawn) + 1 / samples
        losses[row] = -(np.log(expected / expected.sum(-1, keepdims=True)) * hands).sum()
    return losses


def loss_of(net: torch.nn.Module, inputs: Tensor, hands: Tensor) -> Tensor:
    """Returns the mean over hidden cards of minus the log-probability of its rank."""
    log_probs = net(inputs).view(hands.shape).log_softmax(-1)
    return -(log_probs * hands).sum() / hands.sum()


def learned(inputs: Tensor, hands: Tensor, tests: tuple[Tensor, Tensor], seed: int, epochs: int) -> float:
    """Returns the loss over ``tests`` of a network that has learned from ``inputs`` and ``hands``."""
    torch.manual_seed(seed)
    scale = inputs.amax(0).clamp(min=1).float()
    sizes = (inputs.shape[1], 256, 256, hands[0].numel())
    layers = [layer for i in range(3) for layer in (torch.nn.Linear(*sizes[i : i + 2]), torch.nn.ReLU())]
    net = torch.nn.Sequential(*layers[:-1])
    optimizer, batches = torch.optim.Adam(net.parameters(), 1e-3), len(inputs) // 1024
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * batches)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs))[: batches * 1024].view(batches, 1024):
            optimizer.zero_grad()
            loss_of(net, inputs[rows] / scale, hands[rows].float()).backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        return float(loss_of(net, tests[0] / scale, tests[1].float()))


def measure(setup: Setup, args: argparse.Namespace, seed: int) -> list[float]:
    """Returns the nats a hidden card of each of ``ROWS``."""
    test = decisions_of(setup, args.agent, args.tests, 2 * seed + 1, samples=SAMPLES)
    train = decisions_of(setup, args.agent, args.rounds, 2 * seed)
    losses = [float(loss) for loss in test.losses]
    for names in (("observation",), ("observation", "played"), ("observation", "leads")):
        inputs, tests = (torch.cat([getattr(part, name).flatten(1) for name in names], 1) for part in (train, test))
        losses.append(learned(inputs, train.hands, (tests, test.hands), seed, args.epochs))
    return losses


def main(arguments: list[str] | None = None) -> None:
    """Prints a row for each way to predict, and a column for each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="zoo:strong", help="who plays, a network (default: %(default)s)")
    parser.add_argument("--preset", default="djeco")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--rounds", type=integer(1), default=100_000, help="to learn from (default: %(default)s)")
    parser.add_argument("--tests", type=integer(1), default=4_000, help="rounds to predict (default: %(default)s)")
    parser.add_argument("--epochs", type=integer(1), default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of rounds and weights")
    args = parser.parse_args(arguments)
    set_torch_threads(1)
    try:
        setup = make_setup(preset=args.preset, players=args.players)
        columns = [measure(setup, args, seed) for seed in args.seeds]
    except NainJauneError as error:
        sys.exit(str(error))
    print(f"Nats a hidden card, {setup.preset}, {setup.players} seats, seeds {', '.join(map(str, args.seeds))}\n")
    for name, losses in zip(ROWS, zip(*columns, strict=True), strict=True):
        print(f"| {name} |", " | ".join(f"{loss:.4f}" for loss in losses), "|")


if __name__ == "__main__":
    main()
