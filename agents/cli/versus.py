"""``evaluate --versus A B``: two agents on the same deals both ways, over a fixed number of deals or until it is decided."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent
    from nainjaune_env.core.spec import Setup

    from ..stats.sequential import SequentialTest, Versus

FILE_NAME = "versus.json"
MOST_DEALS = 100_000
"""Where a test ends that decides nothing."""


def add_versus_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--versus", nargs=2, metavar=("A", "B"), help="compare two agents, instead of --agents: see above")
    parser.add_argument("--until-decided", action="store_true", help="with --versus: stop when a sequential test has decided")
    parser.add_argument(
        "--bounds", type=float, nargs=2, default=(0.0, 0.05), metavar=("LOW", "HIGH"),
        help="it decides whether A is stronger by at most LOW or by at least HIGH (default: 0 0.05 of the game's unit)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, default=0.05, help="how often it may say HIGH where LOW is true (default: 0.05)")
    parser.add_argument("--beta", type=float, default=0.05, help="and LOW where HIGH is true (default: 0.05)")


def run_versus(args: argparse.Namespace, setup: Setup, agents: Sequence[Agent]) -> int:
    """Compare the two ``agents``, and say and write what came of it; what ``evaluate`` has in common with this is checked."""
    from tqdm import tqdm

    from nainjaune_env.core.atomic_files import write_text
    from nainjaune_env.core.errors import ConfigError

    from ..stats.sequential import SequentialTest, anytime_half_width, versus

    low, high = args.bounds
    test = SequentialTest(low, high, args.alpha, args.beta) if args.until_decided else None
    if args.agents or args.records is not None:
        raise ConfigError("--versus goes without --agents and --records: it is about two agents and no more.")
    if args.out is not None and (args.out / FILE_NAME).exists():
        raise ConfigError(f"{str(args.out / FILE_NAME)!r} exists, and is not overwritten: choose another --out.")
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # where that fails, it fails before the games
    with tqdm(total=args.deals, unit="deal", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:

        def look(so_far: Versus) -> None:
            figure = so_far.figure
            shown = f"{figure.mean:+.3f} ± {anytime_half_width(figure) if test else figure.half_width:.3f}"
            if test is not None:
                shown += f", LLR {test.llr(figure):+.2f} of {test.thresholds[0]:.2f} … {test.thresholds[1]:+.2f}"
            bar.set_postfix_str(shown, refresh=False)
            bar.update(figure.count - bar.n)
            bar.refresh()  # looks are few, and each may be the last

        result = versus(
            setup, agents, deals=args.deals, seed=args.seed, test=test, pots=args.pots, progress=look, device=args.device
        )
    print(told(setup, result, test, args.seed))
    if args.out is not None:
        held = {**setup.to_dict(), "unit": setup.game.unit, "seed": args.seed, "pots": args.pots, **result.to_dict(test)}
        path: Path = args.out / FILE_NAME
        write_text(path, json.dumps(held, indent=2) + "\n")
        print(f"Numbers: {path}")
    return 0


def told(setup: Setup, result: Versus, test: SequentialTest | None, seed: int) -> str:
    """What came of it, in words."""
    from ..stats.sequential import anytime_half_width

    (a, b), figure = result.names, result.figure
    plain, wide = (f"{figure.mean:+.3f} ± {width:.3f}" for width in (figure.half_width, anytime_half_width(figure)))
    lines = [
        f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {figure.count} deals, seed {seed}",
        f"A = {a}, B = {b}; {setup.game.unit} a round, plain 95 % intervals over deals:",
        f"  A in a field of B, beyond that field  {result.gains[0].mean:+.3f} ± {result.gains[0].half_width:.3f}",
        f"  B in a field of A, beyond that field  {result.gains[1].mean:+.3f} ± {result.gains[1].half_width:.3f}",
        f"  half of the one less the other        {plain}",
    ]
    if test is None:
        clear = abs(figure.mean) > figure.half_width
        who = ("A is stronger" if figure.mean > 0 else "B is stronger") if clear else "Neither is shown to be stronger"
        return "\n".join([*lines, f"{who}: {plain} ({figure.count} deals)."])
    lower, upper = test.thresholds
    said = {
        "stronger": "A is stronger",
        "not stronger": f"A is not stronger by {test.high:g}",
        "undecided": "Undecided at the cap",
    }
    lines += [
        f"At most {test.low:g}, or at least {test.high:g}? LLR {test.llr(figure):+.2f}, decided at {lower:.2f} and {upper:.2f} "
        f"with errors {test.alpha:g} and {test.beta:g}.",
        f"{said[test.outcome(figure)]}: {wide} ({figure.count} deals).",
        "This last interval holds wherever one stops. The plain ones do not, as a test stops where figures have gone far: for "
        "those, fix\nthe number of deals, and take another seed.",
    ]
    return "\n".join(lines)
