"""Say exactly how far agents are from an equilibrium, in a game small enough to be written out.

  nainjaune exact --preset batasaurus --players 2 --set memory=perfect \\
      --set dinosaurs=4 --agents random cheapest exact
  nainjaune exact --agents runs/small runs/small@sample --iterations 1000 \\
      --out results/exact
  nainjaune exact --preset batasaurus --players 2 --set memory=perfect --solve
  nainjaune exact --preset djeco --players 2 --set ranks=5 --set suits=2 \\
      --set hand=4 --first 0 --agents random tally

Every line of play becomes a branch of a tree, and against each agent the best response is computed: nothing is drawn,
and there is no interval. A seat's best-response gain is what it gains by leaving the agent's play for its best response, the
others going on with it. NashConv is the sum of the gains over the seats: 0 in an equilibrium and nowhere else. With two seats and
payoffs of a constant sum, half of it is the exploitability: what a best opponent makes of the agent over the value of the game.
Seats play for their own payoff less the mean of all seats. --iterations also lets CFR+ look for an equilibrium. --solve prints
instead what the game's own solver knows, for games far too large for a tree. Exact numbers go to --out, as exact.json.

Where the seats are alike at the start, one of them can begin for all: with --first 0 only the rounds that seat 0 begins are
written out, NashConv is the same, and the gains are those of who begins and who does not. An agent that draws its
actions and gives no probabilities, as searches do, is refused; with --draws 100 it acts 100 times in every position.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import AgentError, ConfigError, TreeError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..measure.report.format_ci import decimal
from .arguments import add_seed_argument, add_threads_argument, integer
from .bot_options import add_bot_arguments, settings_of
from .files import check_new, write_json
from .progress import progress_bar
from .setups import add_setup_arguments, add_task_arguments, settle_setup, settle_task

if TYPE_CHECKING:
    from ..base.task import Task
    from ..study.exact.tree import Tree

NAME = "exact"
HELP = "compute what best responses gain against agents in a small game"

OBJECTIVE = "centred"
"""Default of ``--objective``."""
LIMIT = 10_000_000
"""That of ``exact.tree``, which is too slow to import before the command line is parsed."""
LOOKS = 10
"""How often CFR+ is looked at."""
FILE_NAME = "exact.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agents", nargs="+", default=[], metavar="AGENT", help="heuristics, runs, or solutions such as exact")
    add_setup_arguments(parser)
    parser.add_argument("--iterations", type=integer(0), default=0, help="iterations of CFR+ (default: %(default)s)")
    parser.add_argument(
        "--limit", type=integer(1), default=LIMIT, metavar="NODES", help="largest tree (default: %(default)s nodes)"
    )
    parser.add_argument("--first", type=integer(0), metavar="SEAT", help="only rounds that this seat begins (default: all)")
    parser.add_argument(
        "--draws", type=integer(0, 1_000_000), default=0, help="answers taken from agents that draw and give no probabilities"
    )
    parser.add_argument("--solve", action="store_true", help="print the values of all sizes that the game's own solver knows")
    add_task_arguments(parser, objective=OBJECTIVE)
    add_seed_argument(parser, meaning="for agents that draw: with --draws numbers depend on it (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="folder for exact.json; must not hold it")
    add_threads_argument(parser)
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ..base.devices import set_torch_threads
    from ..players.loading import load_agent

    setup = settle_setup(args, args.agents)
    if (args.first or 0) >= setup.players:
        raise ConfigError(f"Expected --first to be a seat from 0 to {setup.players - 1}, not {args.first}.")
    if len(set(args.agents)) < len(args.agents):
        raise AgentError(f"Each agent is named once, not as in {args.agents}.")
    if args.solve and _asks_for_the_tree(args):
        raise ConfigError(
            "--solve prints what the game's own solver knows, and cannot be combined with --agents, --iterations, --objective, "
            "--start, --first or --draws."
        )
    if args.out is not None:
        check_new(args.out / FILE_NAME)
    if args.solve:
        return _solve(args, setup)
    bots = settings_of(args)
    agents = [load_agent(name, setup, bots=bots, threads=args.threads) for name in args.agents]
    set_torch_threads(args.threads)
    return _measure(args, setup, agents)


def _asks_for_the_tree(args: argparse.Namespace) -> bool:
    """Returns whether an argument has a value that only the tree of the game has a use for."""
    task = (args.objective, args.start) != (OBJECTIVE, "fresh")
    return bool(args.agents or args.iterations or args.draws or args.first is not None or task)


def _measure(args: argparse.Namespace, setup: Setup, agents: list[Any]) -> int:
    """The tree, CFR+, and the agents."""
    import numpy as np

    from ..base.task import CENTRED, Task
    from ..players.exact import solver
    from ..players.program.counting import BotCounts
    from ..study.exact.cfr import cfr_plus
    from ..study.exact.policy import tabular
    from ..study.exact.response import best_response_gains, values_in_order

    task = settle_task(args, setup)
    tree = _build(args, setup, task)
    print(_heading(setup))
    if task != Task(CENTRED):
        print(f"Task: {task}.")
    openings = f"{len(tree.weight):,} opening{'s' * (len(tree.weight) != 1)}"
    print(f"Tree: {tree.size:,} nodes, {tree.num_infosets:,} information sets, {openings}.")
    of_game = solver(setup.game.name) if task.objective == CENTRED else None  # solvers count that
    solved = None if of_game is None else of_game.solved(setup)
    if solved is not None:
        value = decimal(solved.value, "+z.9f")
        print(f"Value to the seat that begins, by backward induction: {value}. Best begun with {_either(solved.first)}.")
    # all that can be refused is refused before the long work and before anything is written
    policies = [tabular(tree, agent, np.random.default_rng([args.seed, at]), draws=args.draws) for at, agent in enumerate(agents)]
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        **setup.to_dict(),
        "unit": setup.game.unit,
        "seed": args.seed,
        "draws": args.draws,
        "first": args.first,
        **task.to_dict(),
        "tree": {"nodes": tree.size, "infosets": tree.num_infosets, "openings": len(tree.weight)},
        "solved": None if solved is None else solved._asdict(),
        "cfr": None,
    }
    names = [agent.name for agent in agents]
    lines = []
    if args.iterations:
        with progress_bar(total=args.iterations, unit="iteration") as bar:

            def look(done: int, nash_conv: float) -> None:
                bar.set_postfix_str(f"NashConv {nash_conv:.2e}", refresh=False)
                bar.update(done - bar.n)

            average = cfr_plus(tree, args.iterations, every=-(-args.iterations // LOOKS), progress=look)
        known = best_response_gains(tree, average.policy).exploitability is not None
        looks = list(zip(average.iterations.tolist(), average.nash_conv.tolist(), strict=True))
        lines += ["", f"CFR+, iterations and {'exploitability' if known else 'NashConv'}:"]
        lines += [f"{done:>10,}  {decimal(nash_conv / 2 if known else nash_conv, 'z.9f')}" for done, nash_conv in looks]
        shown = ", ".join(decimal(value, "+z.9f") for value in values_in_order(tree, average.policy))
        lines.append(f"Values where all play so, in order from the seat that begins: {shown}.")
        content["cfr"] = {
            "iterations": [done for done, _ in looks],
            "nash_conv": [nash_conv for _, nash_conv in looks],
            "exploitability": [nash_conv / 2 for _, nash_conv in looks] if known else None,
        }
        names.append(f"(CFR+ {args.iterations})")
        policies.append(average.policy)
    rows = []
    for name, policy in zip(names, policies, strict=True):
        gains = best_response_gains(tree, policy)
        rows.append(
            {
                "agent": name,
                "nash_conv": gains.nash_conv,
                "exploitability": gains.exploitability,
                "values_in_order": values_in_order(tree, policy).tolist(),
                "values": gains.values.tolist(),
                "responses": gains.responses.tolist(),
                "gains": gains.gains.tolist(),
            }
        )
    if rows:
        lines += ["", _table(setup, rows, centred=task.objective == CENTRED)]
    if args.out is not None:  # before the lines are printed, which may be lost
        lines += ["", _write(args.out, content | {"agents": rows})]
    lines += BotCounts.taken(agents).lines()
    print("\n".join(lines), end="\n" if lines else "")
    return 0


def _build(args: argparse.Namespace, setup: Setup, task: Task) -> Tree:
    """The tree; where it is too large, the error says what would fit."""
    from ..study.exact.tree import begun_by, build_tree, collect_openings

    try:
        openings = collect_openings(setup, seed=args.seed, start=task.fixed_values(setup))
        if args.first is not None:
            openings = begun_by(setup, openings, args.first)
        with progress_bar(unit="node", unit_scale=True) as bar:
            return build_tree(setup, openings, objective=task.objective, limit=args.limit, progress=bar.update)
    except TreeError as error:
        raise TreeError(f"{error}{_shorter(setup, args.limit)}") from None


def _shorter(setup: Setup, limit: int) -> str:
    """A sentence that names the longest form of the game, shorter than ``setup``, whose tree fits."""
    from ..players.exact import solver

    of_game = solver(setup.game.name)
    if of_game is None:
        return ""
    most = min(limit, of_game.max_nodes(setup) - 1)
    fitting = [knobs for knobs in of_game.sizes(setup) if of_game.max_nodes(_with(setup, knobs)) <= most]
    words = " ".join(f"--set {knob}={value}" for knob, value in fitting[-1].items()) if fitting else ""
    return f" A shorter game fits: {words}." if fitting else ""


def _solve(args: argparse.Namespace, setup: Setup) -> int:
    """Prints what the game's own solver says of every size."""
    from ..measure.report.text import align
    from ..players.exact import exact_agents, solver

    of_game = solver(setup.game.name)
    if of_game is None or of_game.solved(setup) is None:
        known = "; ".join(agent.plays_at for agent in exact_agents(setup.game.name).values()) or "none"
        raise AgentError(
            f"Of {setup.game.title} with {setup.players} players and these rules no solution is known here. Known: {known}."
        )
    rows = []
    for knobs in of_game.sizes(setup):
        solved = of_game.solved(_with(setup, knobs))
        if solved is not None:
            rows.append({**knobs, **solved._asdict(), "first": " ".join(solved.first)})
    end = ""
    if args.out is not None:
        end = f"\n{_write(args.out, {**setup.to_dict(), 'unit': setup.game.unit, 'sizes': rows})}"
    size = next(iter(rows[0]))
    print(_heading(setup, but=size))
    print(f"Value of the game to the seat that begins, by backward induction. {_mean(setup, centred=True)}\n")
    two = setup.players == 2
    cells = [[size, "value", *["own less the other's"] * two, "positions solved", "best begun with"]]
    for row in rows:
        values = [decimal(scale * row["value"], "+z.12f") for scale in ((1, 2) if two else (1,))]
        cells.append([str(row[size]), *values, f"{row['positions']:,}", row["first"]])
    print("\n".join([*align(cells, left=(len(cells[0]) - 1,), ruled=True), *([end] if end else [])]))
    return 0


def _with(setup: Setup, knobs: Any) -> Setup:
    from dataclasses import replace

    return replace(setup, rules=setup.rules.replace(**knobs))


def _heading(setup: Setup, but: str = "") -> str:
    knobs = "".join(f", {name} = {value}" for name, value in setup.knobs.items() if name != but)
    return f"{setup.game.title}, preset {setup.preset}, {setup.players} players{knobs}."


def _mean(setup: Setup, *, centred: bool) -> str:
    if not centred:
        return f"Values are {setup.game.unit} a round, a seat's own payoff."
    half = ", so half of its own less the other's" if setup.players == 2 else ""
    return f"Values are {setup.game.unit} a round, a seat's own less the mean of all seats{half}."


def _either(options: tuple[str, ...]) -> str:
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"


def _table(setup: Setup, rows: list[dict[str, Any]], *, centred: bool) -> str:
    """A row an agent."""
    from ..measure.report.text import align, short_names

    gains = [f"gain in seat {seat}" for seat in range(setup.players)]
    half = rows[0]["exploitability"] is not None
    values = [f"value {place}" for place in range(1, setup.players + 1)]
    cells = [["agent", *["exploitability"] * half, "NashConv", *gains, *values]]
    for row, name in zip(rows, short_names([row["agent"] for row in rows]), strict=True):
        numbers = [*[row["exploitability"]] * half, row["nash_conv"], *row["gains"]]
        shown = [decimal(value, "+z.6f") for value in row["values_in_order"]]
        cells.append([name, *(decimal(number, "z.6f") for number in numbers), *shown])
    return (
        "The gain in a seat is what its exact best response makes, less what the agent itself makes there, the agent sitting in "
        f"all\nother seats; NashConv is the sum of the gains{', exploitability half of it' if half else ''}.\n"
        "Value 1 is what the seat that begins makes where all play so, value 2 what the next seat makes, and so on.\n"
        f"{_mean(setup, centred=centred)}\n" + "\n".join(align(cells, left=(0,), ruled=True))
    )


def _write(folder: Path, content: dict[str, Any]) -> str:
    """Writes the file; returns the line that names it."""
    write_json(folder / FILE_NAME, content)
    return f"Numbers: {printable(str(folder / FILE_NAME))}"
