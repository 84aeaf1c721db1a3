"""Compare two agents, for a number of deals or until a test decides which is stronger.

  nainjaune versus runs/second runs/first --until-decided --bounds 0 0.05
  nainjaune versus zoo:strong closer --preset classic --deals 5000 \\
      --out results

The first agent, A, plays in a field of the second, B, and B in a field of A, on the same deals. The advantage of A is half the
difference of their edges, in the game's unit a round, with a 95 % interval over deals. With --until-decided a sequential test
(GSPRT) looks at it every 256 deals, and the command stops when that decides between at most LOW and at least HIGH, or at
--deals. --out gets versus.json. What the numbers mean is in docs/evaluation.md; to rate more than two agents, or whole matches,
use nainjaune evaluate.

--workers, --cluster and --shard play in many processes, as in nainjaune evaluate (docs/scale.md); a part can be played alone only
where the number of deals is fixed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import decimal, mean_ci, mean_of_deals
from ..measure.stats.sequential import SequentialTest, anytime_half_width
from .arguments import number
from .duplicate import DEALS, add_deals_argument, add_device_argument, add_out_argument, add_table_arguments, load_players
from .files import check_new, write_json
from .progress import progress_bar
from .streams import print_text
from .workers import add_worker_arguments, check_worker_arguments, executor_of, keeps_shards, remove_shards, resumable, run_share

if TYPE_CHECKING:
    from ..measure.arena.versus import VersusResult

NAME = "versus"
HELP = "compare two agents, until a test decides which is stronger"

FILE_NAME = "versus.json"
MAX_DEALS = 100_000
"""Default number of deals at which an undecided test stops."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs=2, metavar="AGENT", help="the agents A and B")
    add_table_arguments(parser)
    add_deals_argument(
        parser, f"number of deals (default: {DEALS}; with --until-decided the largest number, {MAX_DEALS})"
    )  # fmt: skip
    parser.set_defaults(deals=None)
    parser.add_argument("--until-decided", action="store_true", help="stop when a sequential test decides")
    parser.add_argument(
        "--bounds", type=number(-1e6, 1e6), nargs=2, metavar=("LOW", "HIGH"),
        help="the test's hypotheses: A is stronger by at most LOW, or by at least HIGH (default: 0 0.05 of the game's unit)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=number(1e-9, 0.5), help="probability of deciding HIGH where LOW is true (default: 0.05)")
    parser.add_argument("--beta", type=number(1e-9, 0.5), help="probability of deciding LOW where HIGH is true (default: 0.05)")
    add_out_argument(parser, FILE_NAME)
    add_device_argument(parser)
    add_worker_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ..measure.arena.versus import VersusPlan, play_versus

    check_worker_arguments(args, {"--device cuda": args.device != "cpu"})
    if args.shard is not None and args.until_decided:
        raise ConfigError(
            "--until-decided looks at deals in their order, so that no part can be played alone: leave out --shard."
        )
    test = _test(args)
    if args.deals is None:
        args.deals = MAX_DEALS if args.until_decided else DEALS
    setup, task, agents = load_players(args)
    plan = VersusPlan(setup, tuple(agent.name for agent in agents), args.deals, args.seed, task, args.device)
    if args.out is not None:
        check_new(args.out / FILE_NAME)
        args.out.mkdir(parents=True, exist_ok=True)  # an error of this comes before the games
    if args.shard is not None:
        return run_share(args, plan, agents)
    with resumable(args), progress_bar(total=args.deals, unit="deal") as bar:

        def look(so_far: VersusResult) -> None:
            count = so_far.advantage.count
            bar.set_postfix_str(_progress_text(so_far), refresh=False)
            bar.update(count - bar.n)
            bar.refresh()  # looks are rare, and each may be the last

        result = play_versus(plan, agents, executor_of(args, bar.set_postfix_str), test, look)
    text = write_versus(result, args.out)  # first: what is printed may be lost
    if args.out is not None and keeps_shards(args):
        remove_shards(args.out)
    print_text(text)
    return 0


def _test(args: argparse.Namespace) -> SequentialTest | None:
    """Returns the test that the arguments ask for; raises :class:`ConfigError` for arguments of a test where there is none."""
    low, high = args.bounds or (None, None)
    given = {"bounds": args.bounds, "alpha": args.alpha, "beta": args.beta}
    for name, value in given.items():
        if value is not None and not args.until_decided:
            raise ConfigError(f"--{name} belongs to a sequential test: it needs --until-decided.")
    if not args.until_decided:
        return None
    values = {"low": low, "high": high, "alpha": args.alpha, "beta": args.beta}
    return SequentialTest(**{name: value for name, value in values.items() if value is not None})


def _progress_text(so_far: VersusResult) -> str:
    """Returns the advantage so far, and how near the test is to a decision."""
    advantage, test = so_far.advantage, so_far.test
    if test is None:
        return mean_ci(advantage.mean, advantage.half_width)
    low, high = test.thresholds
    llr = f"LLR {decimal(test.llr(advantage), '+.2f')} of {decimal(low, '.2f')} … {high:+.2f}"
    return f"{mean_ci(advantage.mean, anytime_half_width(advantage))}, {llr}"


def write_versus(result: VersusResult, folder: Path | None) -> str:
    """Writes the result to ``folder`` (None: nowhere); returns it in sentences, with the name of the file."""
    text = summary_text(result)
    if folder is None:
        return text
    write_json(folder / FILE_NAME, result.to_dict())
    return f"{text}\nNumbers: {printable(str(folder / FILE_NAME))}"


def summary_text(result: VersusResult) -> str:
    """Returns the result in sentences, with the task if it is not the default."""
    from ..base.task import DEFAULT_TASK
    from ..measure.arena.advantage import stronger
    from ..measure.report.text import heading

    plan, test, advantage = result.plan, result.test, result.advantage
    a, b = map(printable, plan.agents)
    plain, wide = (mean_of_deals(advantage, width) for width in (advantage.half_width, anytime_half_width(advantage)))
    lines = [
        *([] if plan.task == DEFAULT_TASK else [f"Task: {plan.task}."]),
        heading(plan.setup, advantage.count, "deals", DEFAULT_TASK, plan.seed),
        f"A = {a}, B = {b}; {plan.setup.game.unit} a round, plain 95 % intervals over deals:",
        f"  A in a field of B, beyond that field  {mean_of_deals(result.gains[0])}",
        f"  B in a field of A, beyond that field  {mean_of_deals(result.gains[1])}",
        f"  advantage of A, half the difference   {plain}",
        *result.notes,
        *result.bots.lines(),
    ]
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
