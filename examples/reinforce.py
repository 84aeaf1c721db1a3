"""REINFORCE with a learned baseline, by self-play, in plain torch.

    python examples/reinforce.py --seed 1

One network plays all four seats of 256 tables and learns from what each seat wins. After some ten seconds its edge over random
play is about 11 chips a round: so much more it wins than a random player in the same seats of the same deals. The same seed gives
the same numbers.
"""

import argparse

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from nainjaune_agents import edge
from nainjaune_env import Batch, make_setup

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seed", type=int, default=1, help="seed of the deals, the network and its actions (1)")
seed = parser.parse_args().seed
torch.manual_seed(seed)
torch.set_num_threads(1)  # the network is small: more threads are slower

rules = {"preset": "classic", "players": 4}
setup = make_setup(**rules)
batch = Batch(setup, 256, seed=seed, autoreset=False)  # a table whose round is over waits for reset()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.from_numpy(setup.layout.scale)  # observations are bytes; divided by this they are about 1
        self.body = nn.Sequential(nn.Linear(setup.layout.size, 128), nn.ReLU())
        self.logits, self.baseline = nn.Linear(128, len(setup.game.actions)), nn.Linear(128, 1)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body(observation / self.scale)
        return self.logits(hidden), self.baseline(hidden)[:, 0]  # edge() plays by the first


def policy_and_baseline(observation: Tensor, mask: Tensor) -> tuple[Categorical, Tensor]:
    logits, baseline = net(observation)
    return Categorical(logits=logits.masked_fill(~mask, -1e9)), baseline  # illegal actions have a probability of 0


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for iteration in range(1, 301):
    batch.reset()  # deals the next 256 rounds
    payoff = np.zeros((256, 4), np.float32)  # the chips that each seat has won so far
    decisions = []
    while (tables := np.flatnonzero(~batch.done)).size:
        seats = batch.seat[tables]
        observation, mask = torch.from_numpy(batch.observation[tables]), torch.from_numpy(batch.mask[tables])
        with torch.no_grad():
            action = policy_and_baseline(observation, mask)[0].sample()
        decisions.append((observation, mask, action, *map(torch.from_numpy, (tables, seats, payoff[tables, seats]))))
        batch.step(action.numpy(), tables)
        payoff[tables] += batch.reward[tables]

    observation, mask, action, tables, seats, before = map(torch.cat, zip(*decisions, strict=True))
    returns = (
        torch.from_numpy(payoff)[tables, seats] - before
    ) / 50  # what the seat wins from this decision on, scaled to about 1
    policy, baseline = policy_and_baseline(observation, mask)
    advantage = returns - baseline
    loss = advantage.square().mean() - (policy.log_prob(action) * advantage.detach()).mean() - 0.05 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 50 == 0:
        print(f"iteration {iteration}: edge {edge(net, 'random', deals=300, seed=seed, **rules).mean:+.1f}", flush=True)

print(edge(net, "random", deals=3000, seed=seed, **rules))
