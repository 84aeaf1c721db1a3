"""PPO by self-play in one file, in the manner of cleanrl: torch and `Batch`, no trainer.

    python examples/ppo_single_file.py                                                # eight to ten minutes
    tensorboard --logdir runs
    nainjaune evaluate --agents examples/ppo_single_file.py:saved closer --deals 3000 # the player that it has saved

One network plays all seats of all tables. Two things differ from PPO for one agent:

(1) Illegal actions have a probability of 0, both when an action is drawn and when it is learned from.
(2) The next step at a table is another seat's decision. So the reward of a decision is all that its seat gains until it decides
    again, and the value that follows is that of this next decision: see `gae_by_seat`.

The mean return of self-play is always 0. Progress shows in the edge over `closer`, a heuristic: the chips a round that the agent
wins beyond `closer` in the same seats of the same deals. The same seed gives the same numbers, on one machine with one version.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

from nainjaune_agents import edge
from nainjaune_env import Batch, make_setup

RULES: dict[str, Any] = {"preset": "djeco", "players": 4}


def option(default: Any, meaning: str, low: float = 0) -> Any:
    return field(default=default, metadata={"meaning": meaning, "low": low})


@dataclass
class Args:
    out: str = option("runs/ppo_single_file", "folder of the weights and of TensorBoard's events")
    seed: int = option(1, "seed of the deals, the network and its actions")
    total_decisions: int = option(24_000_000, "decisions to train on, of all seats", 1)
    num_tables: int = option(512, "tables that are stepped together", 1)
    num_steps: int = option(96, "decisions at each table between updates; a round has about 23", 8)
    learning_rate: float = option(2e-3, "step size of Adam at the start; it falls linearly to a twentieth")
    gae_lambda: float = option(0.95, "lambda of generalised advantage estimation")
    update_epochs: int = option(2, "passes over the decisions of an update", 1)
    minibatch_size: int = option(1024, "decisions in a gradient step, at most", 2)
    clip_coef: float = option(0.2, "how far the probability ratio may move from 1 before its gain is clipped")
    ent_coef: float = option(0.1, "weight of the entropy at the start; it falls linearly to a twentieth")
    vf_coef: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(0.5, "a gradient with a larger norm is scaled down to this one")
    chips: float = option(16.0, "chips that count as 1 in training, about the deviation of a payoff", 1)
    eval_every: int = option(50, "updates between evaluations, with a tenth of the deals", 1)
    eval_deals: int = option(10_000, "deals of the evaluation at the end", 300)
    threads: int = option(1, "torch's threads; more than there are free cores is many times slower", 1)


def parse_args(arguments: list[str] | None) -> Args:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(usage="%(prog)s [--NAME VALUE ...]", description=__doc__, formatter_class=form)
    flags = {one.name: "--" + one.name.replace("_", "-") for one in fields(Args)}
    for one in fields(Args):
        text = f"{one.metadata['meaning']} ({one.default})"
        parser.add_argument(flags[one.name], type=type(one.default), default=one.default, help=text, metavar="VALUE")
    args = Args(**vars(parser.parse_args(arguments)))
    for one in fields(Args):
        value, low = getattr(args, one.name), one.metadata["low"]
        if one.name != "out" and not value >= low:
            parser.error(f"{flags[one.name]} is at least {low}, not {value}.")
    if (Path(args.out) / "agent.safetensors").exists():
        parser.error(f"{args.out} already has an agent: name another folder by --out.")
    return args


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    zero: Tensor
    scale: Tensor

    def __init__(self, setup: Any) -> None:
        super().__init__()
        # observations are bytes; the layout says which byte codes the number 0, and by what it is divided
        self.register_buffer("zero", torch.from_numpy(setup.layout.zero), persistent=False)
        self.register_buffer("scale", torch.from_numpy(setup.layout.scale), persistent=False)
        inputs, hidden, outputs = setup.layout.size, 128, len(setup.game.actions)
        first, second = layer_init(nn.Linear(inputs, hidden)), layer_init(nn.Linear(hidden, hidden))
        self.trunk = nn.Sequential(first, nn.ReLU(), second, nn.ReLU())
        self.actor = layer_init(nn.Linear(hidden, outputs), std=0.01)
        self.critic = layer_init(nn.Linear(hidden, 1), std=0.1)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.trunk((observation - self.zero) / self.scale)
        return self.actor(hidden), self.critic(hidden)[:, 0]  # logits first: `edge` plays the largest legal one

    def policy_and_value(self, observation: Tensor, mask: Tensor) -> tuple[Categorical, Tensor]:
        logits, value = self(observation)
        return Categorical(logits=logits.masked_fill(~mask, -1e9), validate_args=False), value  # (1)

    def save(self, path: Path) -> None:
        temporary = path.with_suffix(".tmp")
        save_file(self.state_dict(), temporary)
        os.replace(temporary, path)  # whoever reads it, or a crash, never meets half a file


def saved(setup: Any) -> Agent:
    """Returns the agent in the default folder; `nainjaune` calls it where a player is named as `ppo_single_file.py:saved`."""
    agent = Agent(setup)
    agent.load_state_dict(load_file(Path(Args.out) / "agent.safetensors"))
    return agent


def gae_by_seat(
    seats: np.ndarray, rewards: np.ndarray, values: np.ndarray, dones: np.ndarray,
    next_seat: np.ndarray, next_value: np.ndarray, gae_lambda: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Returns the advantages (T, B) of T decisions at each of B tables, and which of them are known.

    `rewards` (T, B, n) are those of all seats; `next_seat` is to act after the last step. Going backwards, `gain`, `value` and
    `advantage` (B, n) are what each seat gains until its next decision, and the value and advantage there. `follows` says whether
    there is one, or the end of the round: else the advantage is not known, and 0.
    """
    steps, tables, players = rewards.shape
    gain, value, advantage = (np.zeros((tables, players), np.float32) for _ in range(3))
    follows = np.zeros((tables, players), np.bool_)
    at = np.arange(tables), next_seat
    value[at], follows[at] = next_value, True
    advantages, known = np.zeros((steps, tables), np.float32), np.zeros((steps, tables), np.bool_)
    for t in reversed(range(steps)):
        end = dones[t]
        gain[end], value[end], advantage[end], follows[end] = 0, 0, 0, True
        gain += rewards[t]
        at = np.arange(tables), seats[t]
        known[t] = follows[at]
        advantages[t] = known[t] * (gain[at] + value[at] - values[t] + gae_lambda * advantage[at])
        gain[at], value[at], advantage[at], follows[at] = 0, values[t], advantages[t], True
    return advantages, known


def main(arguments: list[str] | None = None) -> None:
    args = parse_args(arguments)
    out = Path(args.out)
    writer = SummaryWriter(str(out))
    writer.add_text("args", "|name|value|\n|-|-|\n" + "\n".join(f"|{name}|{value}|" for name, value in vars(args).items()))

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    setup = make_setup(**RULES)
    batch = Batch(setup, args.num_tables, seed=args.seed)  # a table whose round ends is in its next round at once
    agent = Agent(setup)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    # storage: a row is a step, a column is a table
    shape = args.num_steps, args.num_tables
    obs = torch.zeros((*shape, setup.layout.size), dtype=torch.uint8)
    masks = torch.zeros((*shape, len(setup.game.actions)), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, values = torch.zeros(shape), torch.zeros(shape)
    seats, dones = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    rewards = np.zeros((*shape, setup.players), np.float32)

    batch_size = args.num_steps * args.num_tables
    num_updates = max(args.total_decisions // batch_size, 1)
    start = time.perf_counter()
    for update in range(1, num_updates + 1):
        annealed = 1 - 0.95 * (update - 1) / num_updates
        optimizer.param_groups[0]["lr"] = annealed * args.learning_rate

        for step in range(args.num_steps):
            # copies: the batch writes into the same arrays at every step
            obs[step], masks[step], seats[step] = torch.from_numpy(batch.observation), torch.from_numpy(batch.mask), batch.seat
            with torch.no_grad():
                policy, values[step] = agent.policy_and_value(obs[step], masks[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
            batch.step(actions[step].numpy())
            # centred: the pots give and take, so that all seats of a round may win; what counts is the difference to the others
            rewards[step] = (batch.reward - batch.reward.mean(axis=1, keepdims=True)) / args.chips
            dones[step] = batch.done

        with torch.no_grad():
            next_value = agent(torch.from_numpy(batch.observation))[1].numpy()
        advantages, known = gae_by_seat(seats, rewards, values.numpy(), dones, batch.seat, next_value, args.gae_lambda)  # (2)

        # flatten the batch; the last decisions of seats in unfinished rounds are left out
        rows = torch.from_numpy(known)
        b_obs, b_masks, b_actions, b_logprobs, b_values = (x[rows] for x in (obs, masks, actions, logprobs, values))
        b_advantages = torch.from_numpy(advantages)[rows]
        b_returns = b_advantages + b_values

        for _ in range(args.update_epochs):
            for mb in torch.randperm(len(b_obs)).split(args.minibatch_size):
                policy, new_value = agent.policy_and_value(b_obs[mb], b_masks[mb])
                logratio = policy.log_prob(b_actions[mb]) - b_logprobs[mb]
                ratio = logratio.exp()
                mb_advantages = b_advantages[mb]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std(correction=0) + 1e-8)

                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(ratio * mb_advantages, clipped * mb_advantages).mean()
                v_loss = (new_value - b_returns[mb]).square().mean()
                entropy = policy.entropy().mean()
                loss = pg_loss + args.vf_coef * v_loss - annealed * args.ent_coef * entropy

                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        decisions = update * batch_size
        scalars = {
            "charts/learning_rate": annealed * args.learning_rate,
            "charts/decisions_per_second": decisions / (time.perf_counter() - start),
            "losses/policy_loss": pg_loss.item(),
            "losses/value_loss": v_loss.item(),
            "losses/entropy": entropy.item(),
            "losses/approx_kl": (ratio - 1 - logratio).mean().item(),
            "losses/clipfrac": ((ratio - 1).abs() > args.clip_coef).float().mean().item(),
            "losses/explained_variance": 1 - (b_advantages.var() / b_returns.var()).item(),
        }
        if update % args.eval_every == 0 or update == num_updates:
            agent.save(out / "agent.safetensors")
            result = edge(agent, "closer", args.eval_deals // (1 if update == num_updates else 10), seed=10_000, **RULES)
            scalars["charts/edge"] = result.mean
            speed = f"{scalars['charts/decisions_per_second']:,.0f} a second"
            print(f"{decisions:,} decisions, {speed}: edge {result.mean:+.3f} ± {result.ci95:.3f}", flush=True)
        for name, value in scalars.items():
            writer.add_scalar(name, value, decisions)
    writer.close()
    print(result)


if __name__ == "__main__":
    main()
