"""``evaluate --versus A B``: two agents on the same deals both ways, for a fixed number of deals or until a test decides."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from .arguments import number
from .progress import progress_bar
from .workers import executor_of, keeps_shards, remove_shards, run_share

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent
    from nainjaune_env.core.spec import Setup

    from ..arena.versus import VersusPlan, VersusResult
    from ..stats.sequential import SequentialTest
    from ..task import Task

FILE_NAME = "versus.json"
MOST_DEALS = 100_000
"""Default number of deals at which an undecided test stops."""
BOUNDS = (0.0, 0.05)
"""Default hypotheses of a test, in the game's unit."""
ERROR = 0.05
"""Default probability of each wrong decision."""


def add_versus_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--versus", nargs=2, metavar=("A", "B"), help="compare two agents, in place of --agents")
    parser.add_argument("--until-decided", action="store_true", help="with --versus: stop when a sequential test decides")
    parser.add_argument(
        "--bounds", type=number(-1e6, 1e6), nargs=2, metavar=("LOW", "HIGH"),
        help="the test's hypotheses: A is stronger by at most LOW, or by at least HIGH (default: 0 0.05 of the game's unit)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=number(1e-9, 0.5), help="probability of deciding HIGH where LOW is true (default: 0.05)")
    parser.add_argument("--beta", type=number(1e-9, 0.5), help="probability of deciding LOW where HIGH is true (default: 0.05)")


def check_test_arguments(args: argparse.Namespace) -> None:
    """Raises :class:`~nainjaune_env.core.errors.ConfigError` for arguments of a test where none is made."""
    from nainjaune_env.core.errors import ConfigError

    for name in ("bounds", "alpha", "beta"):
        if getattr(args, name) is not None and not args.until_decided:
            raise ConfigError(f"--{name} belongs to a sequential test: it needs --versus A B --until-decided.")


def run_versus(args: argparse.Namespace, setup: Setup, agents: Sequence[Agent], task: Task) -> int:
    """Compares the two ``agents``, prints and writes the result; ``evaluate`` has checked the common arguments."""
    from nainjaune_env.core.errors import ConfigError

    from ..arena.versus import VersusPlan, play_versus
    from ..report.format_ci import decimal, mean_ci
    from ..stats.sequential import SequentialTest, anytime_half_width

    low, high = args.bounds or BOUNDS
    test = SequentialTest(low, high, args.alpha or ERROR, args.beta or ERROR) if args.until_decided else None
    if args.agents or args.records is not None:
        raise ConfigError("--versus cannot be combined with --agents or --records.")
    if args.episode == "match":
        raise ConfigError("--versus compares agents over rounds: matches are rated with --agents A B --episode match.")
    if args.out is not None and (args.out / FILE_NAME).exists():
        raise ConfigError(f"{str(args.out / FILE_NAME)!r} exists, and is not overwritten: choose another --out.")
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # an error of this comes before the games
    pots = None if args.pots is None else tuple(args.pots)
    plan = VersusPlan(setup, tuple(agent.name for agent in agents), args.deals, args.seed, task, pots, args.device)
    if args.shard is not None:
        return run_share(args, plan, agents)
    with progress_bar(total=args.deals, unit="deal") as bar:
        executor = executor_of(args, bar.set_postfix_str)

        def look(so_far: VersusResult) -> None:
            advantage = so_far.advantage
            shown = mean_ci(advantage.mean, anytime_half_width(advantage) if test else advantage.half_width)
            if test is not None:
                least, most = test.thresholds
                shown += f", LLR {decimal(test.llr(advantage), '+.2f')} of {decimal(least, '.2f')} … {most:+.2f}"
            bar.set_postfix_str(shown, refresh=False)
            bar.update(advantage.count - bar.n)
            bar.refresh()  # looks are rare, and each may be the last

        result = play_versus(plan, agents, executor, test, look)
    if args.out is not None:  # first: what is printed may be lost
        write_versus(args.out, plan, result, test)
        if keeps_shards(args):
            remove_shards(args.out)
    print(summary_text(plan, result, test))
    if args.out is not None:
        print(f"Numbers: {printable(str(args.out / FILE_NAME))}")
    return 0


def write_versus(folder: Path, plan: VersusPlan, result: VersusResult, test: SequentialTest | None) -> Path:
    """Writes the result to ``folder``; returns the path of the file."""
    from nainjaune_env.core.atomic_files import write_text

    about = {"unit": plan.setup.game.unit, "seed": plan.seed, "pots": plan.pots, **plan.task.to_dict()}
    held = {**plan.setup.to_dict(), **about, **result.to_dict(test)}
    write_text(folder / FILE_NAME, json.dumps(held, indent=2) + "\n")
    return folder / FILE_NAME


def summary_text(plan: VersusPlan, result: VersusResult, test: SequentialTest | None) -> str:
    """Returns the result in sentences, with the task if it is not the default."""
    from ..arena.advantage import stronger
    from ..report.format_ci import decimal, mean_of_deals
    from ..stats.sequential import anytime_half_width
    from ..task import DEFAULT_TASK

    (a, b), advantage = map(printable, result.names), result.advantage
    plain, wide = (mean_of_deals(advantage, width) for width in (advantage.half_width, anytime_half_width(advantage)))
    setup = plan.setup
    lines = [
        *([] if plan.task == DEFAULT_TASK else [f"Task: {plan.task}."]),
        f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {advantage.count} deals, seed {plan.seed}",
        f"A = {a}, B = {b}; {setup.game.unit} a round, plain 95 % intervals over deals:",
        f"  A in a field of B, beyond that field  {mean_of_deals(result.gains[0])}",
        f"  B in a field of A, beyond that field  {mean_of_deals(result.gains[1])}",
        f"  advantage of A, half the difference   {plain}",
    ]
    lines += result.notes
    if test is None:
        who = {1: "A is stronger", -1: "B is stronger", 0: "Neither is significantly stronger"}[stronger(advantage)]
        return "\n".join([*lines, f"{who}: {plain} ({advantage.count} deals)."])
    lower, upper = test.thresholds
    decisions = {
        "stronger": "A is stronger",
        "not stronger": f"A is not stronger by {decimal(test.high, 'g')}",
        "undecided": "Undecided at the cap" if advantage.decidable else "Undecided at the cap, as too few deals differ",
    }
    lines += [
        f"At most {decimal(test.low, 'g')}, or at least {decimal(test.high, 'g')}? LLR {decimal(test.llr(advantage), '+.2f')}, "
        f"decided at {decimal(lower, '.2f')} and {upper:.2f} with errors {test.alpha:g} and {test.beta:g}.",
        f"{decisions[test.outcome(advantage)]}: {wide} ({advantage.count} deals).",
        "The last interval is valid whenever the test stops. The plain ones are not, as a test stops where the mean went far: "
        "for valid ones, fix\nthe number of deals, and take another seed.",
    ]
    return "\n".join(lines)
