"""How much better a network predicts the other hands when it observes which ranks each seat has played (docs/lab/zoo.md).

Decisions of an agent's self-play; two multilayer perceptrons, one of the observation, the other also of the number of cards of
each rank that each other seat has played (the observation has only the sum). Each predicts the ranks of each other seat's
cards; measured is the cross-entropy in nats a hidden card, over decisions of rounds that were not learned from.

  python benchmarks/hidden_hands.py --agent zoo:strong --preset djeco --players 4 --seeds 1 2 3
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_agents.loading import load_agent, use_threads
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup

RANKS = 13
KEPT = 0.2
"""The share of decisions that is kept: those of one round are much alike."""


def counts_of(cards: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Returns how many cards of each rank the sets ``cards (...)`` have, ``(..., 13)``."""
    bits = cards[..., None] >> np.arange(4 * RANKS) & 1
    return bits.reshape(*cards.shape, 4, RANKS).sum(-2).astype(np.uint8)


def decisions_of(args: argparse.Namespace, rounds: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns observations, cards played by each other seat and cards held by each, of ``rounds``; by rank, next seat first."""
    setup, n = make_setup(preset=args.preset, players=args.players), args.players
    agent, batch, rng = (
        load_agent(args.agent, setup),
        Batch(setup, rounds, seed=seed, autoreset=False),
        np.random.default_rng(seed),
    )
    seen, played, hands = [], [], []
    actions = np.zeros(rounds, np.int64)
    while (index := np.flatnonzero(~batch.done)).size:
        actions[index] = agent.act(DecisionBatch(batch, index), rng)
        kept = index[rng.random(len(index)) < KEPT]
        others = (batch.seat[kept][:, None] + np.arange(1, n)) % n
        tables = batch.tables[kept]
        seen.append(batch.observation[kept])
        played.append(counts_of(tables["played"][np.arange(len(kept))[:, None], others]))
        hands.append(counts_of(tables["hand"][np.arange(len(kept))[:, None], others]))
        batch.step(actions)
    return tuple(torch.from_numpy(np.concatenate(each)) for each in (seen, played, hands))  # type: ignore[return-value]


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


def main(arguments: list[str] | None = None) -> None:
    """Prints both losses for each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="zoo:strong", help="who plays (default: %(default)s)")
    parser.add_argument("--preset", default="djeco")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=100_000, help="to learn from (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of rounds and weights")
    args = parser.parse_args(arguments)
    use_threads(1)
    for seed in args.seeds:
        (seen, played, hands), test = (
            decisions_of(args, args.rounds, 2 * seed),
            decisions_of(args, args.rounds // 5, 2 * seed + 1),
        )
        with_played = [torch.cat([each[0], each[1].flatten(1)], 1) for each in ((seen, played), test)]
        without = learned(seen, hands, (test[0], test[2]), seed, args.epochs)
        with_them = learned(with_played[0], hands, (with_played[1], test[2]), seed, args.epochs)
        print(f"seed {seed}: {without:.4f} nats a card without, {with_them:.4f} with, {without - with_them:+.4f}", flush=True)


if __name__ == "__main__":
    main()
