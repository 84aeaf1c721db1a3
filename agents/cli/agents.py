"""List the agents that can be named: heuristics, solutions and trained players, each with its edge.

  nainjaune agents
  nainjaune agents --game batasaurus
  nainjaune agents --run runs/first
  nainjaune evaluate --agents closer zoo:strong

An edge is the payoff of the agent minus that of a field of another agent in
the same seat on the same deals, with a 95 % interval over deals. The folder
of a training run is also an agent: runs/first plays the likeliest action of
its network, runs/first@sample draws from its policy, and runs/first@transfer
plays also under other rules than those of its training; --run lists the
checkpoints that a run keeps (runs/first@best, runs/first@100). tally@search=50
searches over tally; zoo:strong@search=50,inference=policy draws hidden cards
by what the others have played. docs/heuristics.md, docs/zoo.md and
docs/search.md say more.

Players from elsewhere have no line here, and are named in the same places:
bot.py:make_agent and package.module:Object are Python objects, sb3:model.zip
a model of Stable-Baselines3, onnx:policy.onnx an ONNX file, exec:./bot a
program in any language, chat:MODEL a language model. docs/players.md says
more.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.registry import game_names, get_game

from ..measure.report.format_ci import decimal, mean_ci

if TYPE_CHECKING:
    from ..players.zoo import Player

NAME = "agents"
HELP = "list all agents by name, each in a line with its edge"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--game", help="only the agents of this game (default: of all games)")
    parser.add_argument("--run", type=Path, dest="folder", metavar="RUN", help="the checkpoints of a run, each an agent")


def run(args: argparse.Namespace) -> int:
    if args.folder is not None:
        print("\n".join(run_lines(args.folder)))
        return 0
    names = game_names() if args.game is None else [args.game]
    print("\n\n".join("\n".join(agent_lines(get_game(name))) for name in names))
    return 0


def agent_lines(game: GameSpec) -> list[str]:
    """Returns a heading on the agents of ``game``, and a line for each: name, what it plays or where, and its edge."""
    from ..measure.report.text import align
    from ..players.exact import exact_agents
    from ..players.heuristics import about, heuristics
    from ..players.zoo import player_registry

    known = about(game.name)
    rows = []
    for name in heuristics(game.name):
        plays, edge = known.lines.get(name, ("", None))
        rows.append([name, plays, "" if edge is None else f"{mean_ci(*edge)} over {known.field}"])
    rows += [[name, f"an exact solution: {agent.plays_at}", ""] for name, agent in exact_agents(game.name).items()]
    rows += [player_row(player) for player in player_registry().players() if player.card.game == game.name]
    where = f", of heuristics with {known.table}" if known.table else ""
    return [f"{game.title}: edges in {game.unit} a round{where}", *(f"  {line}" for line in align(rows, left=range(3)))]


def run_lines(folder: Path) -> list[str]:
    """Returns a line for each checkpoint of the run in ``folder``: its agent's name, its iteration, the edge of the best."""
    from ..measure.report.text import align
    from ..players.loading import kept_checkpoints
    from ..players.networks.checkpoint import load_checkpoint

    rows = []
    for name, path in {str(folder): folder, **kept_checkpoints(folder)}.items():
        checkpoint = load_checkpoint(path)
        edge = checkpoint.progress.get("edge")
        about = "" if edge is None else f"edge {decimal(edge, '+.2f')}, the highest of its evaluations"
        rows.append([printable(name), f"iteration {checkpoint.iteration}", about])
    return align(rows, left=range(3))


def player_row(player: Player) -> list[str]:
    """Returns the name of a zoo player, its tables, and its edges over the field and at the task of the first rating."""
    ratings = player.card.ratings
    first = ratings[0]
    alike = [rating for rating in ratings if (rating.field, rating.task) == (first.field, first.task)]
    low, high = min(rating.mean for rating in alike), max(rating.mean for rating in alike)
    edge = mean_ci(first.mean, first.ci95) if len(alike) == 1 else f"{decimal(low, '+.2f')} … {decimal(high, '+.2f')}"
    return [printable(cell) for cell in (player.name, player.plays_at, f"{edge} over {first.field}")]
