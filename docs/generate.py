"""Write the generated pages into ``docs/``: one for every game (presets, knobs, actions, observation features, measures), one for
every trainer (configuration keys, metrics), the model registry (model cards), the columns of a study, how to add a game, and the
cards of the registry's weights and play for a model hub.

python docs/generate.py           write the pages
python docs/generate.py --check   write nothing; show the differences and exit with 1 if there are any
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from hub_cards import dataset_card, model_card

from nainjaune_agents.options import described
from nainjaune_agents.report.format_ci import mean_ci
from nainjaune_agents.study import columns as study
from nainjaune_agents.trainers import get_trainer, trainer_names
from nainjaune_agents.zoo import PREFIX, Player, player_registry
from nainjaune_env import game_names, get_game
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.core.rules_docs import knob_table, markdown_table, preset_table
from nainjaune_env.core.spec import GameSpec

DOCS = Path(__file__).resolve().parent


def action_table(game: GameSpec) -> str:
    """Returns the actions by number, in six columns."""
    columns = 6
    numbered = [f"{number}: `{name}`" for number, name in enumerate(game.actions)]
    depth = -(-len(numbered) // columns)
    padded = numbered + [""] * (depth * columns - len(numbered))
    return markdown_table([""] * columns, ([padded[row + depth * column] for column in range(columns)] for row in range(depth)))


def measure_table(measures: Measures) -> str:
    """Returns the measures of play in a report."""
    rows = [(f"{m.title} (`{m.name}`)", m.meaning, m.unit, ", ".join(m.parts)) for m in measures.MEASURES]
    return markdown_table(["measure", "meaning", "unit", "parts"], rows)


def page(game: GameSpec) -> str:
    """Returns the page of one game."""
    head = DOCS / "heads" / f"{game.name}.md"
    layout = game.layout(game.default_players)
    parts = [
        f"# {game.title}\n",
        head.read_text(encoding="utf-8") if head.exists() else "",
        "## Presets\n",
        preset_table(game.presets),
        "## Knobs\n",
        knob_table(type(game.presets[game.default_preset].rules)),
        f"## Actions\n\n{len(game.actions)} actions, `Discrete({len(game.actions)})`.\n",
        action_table(game),
        f"## Observation\n\n{layout.size} bytes with {game.default_players} players; fingerprint `{layout.fingerprint}`.\n",
        layout.markdown(),
    ]
    if game.measures is not None:
        parts += ["## Measures\n\nPer seat and round, as in [reports](report.md).\n", measure_table(game.measures)]
    return "\n".join(part for part in parts if part)


def trainer_page(name: str) -> str:
    """Returns the page of one trainer."""
    trainer = get_trainer(name)
    keys = [(f"`{key}`", f"`{default}`", meaning) for key, default, meaning in described(trainer.Config)]
    metrics = [[f"`{metric}`", meaning] for metric, meaning in trainer.METRICS.items()]
    head = DOCS / "heads" / f"trainer_{name}.md"
    parts = [
        head.read_text(encoding="utf-8") if head.exists() else f"# {name}\n",
        "## Configuration\n",
        markdown_table(["key", "default", "meaning"], keys),
        "## Metrics\n",
        markdown_table(["metric", "meaning"], metrics),
    ]
    return "\n".join(parts)


def zoo_page() -> str:
    """Returns the page of the model registry."""
    parts = [(DOCS / "heads" / "zoo.md").read_text(encoding="utf-8")]
    box = player_registry()
    for name in box.names():
        parts.append(f"## {PREFIX}{name}\n")
        for player in box.players(name):
            parts.append(player_section(player))
    return "\n".join(parts)


def player_section(player: Player) -> str:
    """Returns the section of one file of a player: how it was made, and its edges."""
    card = player.card
    unit = get_game(card.game).unit
    rows = []
    for rating in card.ratings:
        edge = mean_ci(rating.mean, rating.ci95)
        rows.append([rating.table, f"`{rating.field}`", edge, f"{rating.deals:,}", str(rating.seed)])
    effort = f"{card.decisions / 1e6:.3g} million decisions, {card.seconds / 60:.1f} minutes"
    commands = "\n".join(card.made_by)
    return "\n".join(
        [
            f"### {player.plays_at}\n",
            f"{card.note} Trained by [{card.algorithm}](trainer_{card.algorithm}.md): {effort}, "
            f"{card.made_at}. `{player.path.parent.name}/{player.path.name}`, "
            f"{player.path.stat().st_size / 1e6:.2f} MB.\n",
            f"```\n{commands}\n```\n",
            markdown_table(["table", "over a field of", f"edge, {unit} a round", "deals", "seed"], rows),
        ]
    )


def study_table(columns: Sequence[study.ColumnSpec]) -> str:
    """Returns a table of study columns; the parts of one field share a row."""
    rows = []
    for _, group in groupby(columns, lambda column: (column.source, column.field) if column.part is not None else column.name):
        first, *others = group
        names = " … ".join(f"`{column.name}`" for column in (first, *others[-1:]))
        units = [get_game(name).unit for name in game_names() if get_game(name).features is not None]
        unit = " or ".join(units) if first.unit == "payoff" else first.unit
        rows.append([names, first.kind, unit, "" if first.seen else "hidden", first.meaning])
    return markdown_table(["column", "type", "unit", "", "meaning"], rows)


def study_page() -> str:
    """Returns the page of study columns: those of any game, then those of each game."""
    parts = [
        (DOCS / "heads" / "study_columns.md").read_text(encoding="utf-8"),
        "## Decisions, in any game\n",
        study_table(study.of_any_decision()),
        "## Search results\n\nWith `--search`. In the file of decisions:\n",
        study_table(study.SEARCHED),
        "In the file of options, beside the columns that identify the decision (`preset` to `deal`, `round_number`, `ply`) and "
        "the game's features of the action, whose names begin with `option_` there (`option_rank`):\n",
        study_table(study.OPTIONS),
        "## Rounds, one row per seat, in any game\n",
        study_table(study.of_any_round()),
    ]
    for setup in (get_game(name).setup() for name in game_names() if get_game(name).features is not None):
        parts += [
            f"## {setup.game.title}\n\nFor {setup.players} seats.\n",
            "### Position\n\nIn the file of decisions, and in the file of rounds with the values just after the deal.\n",
            study_table(study.of_position(setup)),
            "### Action\n\nIn the file of decisions.\n",
            study_table(study.of_action(setup)),
            "### Counts of the round\n\nIn the file of rounds.\n",
            study_table(study.counted(setup)),
        ]
    return "\n".join(parts)


def new_game_page() -> str:
    """Returns the page on how to add a game, which quotes the files that its head names."""

    def quoted(match: re.Match[str]) -> str:
        path = DOCS.parent / match[1]
        return f"`{match[1]}`:\n\n```{path.suffix[1:].replace('py', 'python')}\n{path.read_text(encoding='utf-8')}```"

    return re.sub(r"<!-- quote: (\S+) -->", quoted, (DOCS / "heads" / "new_game.md").read_text(encoding="utf-8"))


def pages() -> dict[str, str]:
    """Returns every page by its file name."""
    found = {f"{name}.md": page(get_game(name)) for name in game_names()}
    found.update({f"trainer_{name}.md": trainer_page(name) for name in trainer_names()})
    found["zoo.md"] = zoo_page()
    found["study_columns.md"] = study_page()
    found["new_game.md"] = new_game_page()
    found["hub/model.md"] = model_card()
    found["hub/dataset.md"] = dataset_card(study_table)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; show the differences and exit with 1 if there are any"
    )
    parser.add_argument("--into", type=Path, default=DOCS, help="folder of the pages (default: the folder of this file)")
    options = parser.parse_args()
    drifted = False
    for name, new in pages().items():
        path = options.into / name
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
            continue
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        diff = difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"{path.name} as it is", "as the code generates it", lineterm=""
        )
        for line in diff:
            drifted = True
            print(line)
    if drifted:
        print("The pages differ from the code; run: python docs/generate.py", file=sys.stderr)
    return int(drifted)


if __name__ == "__main__":
    sys.exit(main())
