"""Writes the reference pages into ``docs/``: of every game (presets, knobs, actions, observation slots, measures), of every
trainer (configuration keys, metrics), of the players in the box (what stands on their cards), of what a study writes, and of how
to add a game (its files, quoted).

python docs/generate.py           write the pages
python docs/generate.py --check   write nothing; show what has drifted and exit with 1
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from nainjaune_agents.study import columns as study
from nainjaune_agents.trainers import get_trainer, trainer_names
from nainjaune_agents.trainers.config import options
from nainjaune_agents.zoo import PREFIX, Player, player_registry
from nainjaune_env import game_names, get_game
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.core.rules_docs import knob_table, markdown_table, preset_table
from nainjaune_env.core.spec import GameSpec

DOCS = Path(__file__).resolve().parent


def action_table(game: GameSpec) -> str:
    """The actions by number, in as many columns as are easy to read."""
    columns = 6
    numbered = [f"{number}: `{name}`" for number, name in enumerate(game.actions)]
    depth = -(-len(numbered) // columns)
    padded = numbered + [""] * (depth * columns - len(numbered))
    return markdown_table([""] * columns, ([padded[row + depth * column] for column in range(columns)] for row in range(depth)))


def measure_table(measures: Measures) -> str:
    """What a report says of play."""
    rows = [(f"{m.title} (`{m.name}`)", m.meaning, m.unit, ", ".join(m.parts)) for m in measures.MEASURES]
    return markdown_table(["measure", "meaning", "unit", "parts"], rows)


def page(game: GameSpec) -> str:
    """The page of one game."""
    head = DOCS / "heads" / f"{game.name}.md"
    layout = game.layout(game.default_players)
    parts = [
        f"# {game.title}\n",
        head.read_text(encoding="utf-8") if head.exists() else "",
        "## Presets\n",
        preset_table(game.presets),
        "## Knobs\n",
        knob_table(type(game.presets[game.default_preset].rules)),
        f"## Actions\n\n{len(game.actions)} of them, `Discrete({len(game.actions)})`.\n",
        action_table(game),
        f"## Observation\n\nWith {game.default_players} players {layout.size} bytes; fingerprint `{layout.fingerprint}`.\n",
        layout.markdown(),
    ]
    if game.measures is not None:
        parts += ["## Measures\n\nOf a seat in a round, as [reports](report.md) give them.\n", measure_table(game.measures)]
    return "\n".join(part for part in parts if part)


def trainer_page(name: str) -> str:
    """The page of one trainer."""
    trainer = get_trainer(name)
    keys = [(f"`{key}`", f"`{default}`", meaning) for key, default, meaning in options(trainer.Config)]
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
    """The players in the box, by name."""
    parts = [(DOCS / "heads" / "zoo.md").read_text(encoding="utf-8")]
    box = player_registry()
    for name in box.names():
        parts.append(f"## {PREFIX}{name}\n")
        for player in box.players(name):
            parts.append(player_section(player))
    return "\n".join(parts)


def player_section(player: Player) -> str:
    """One file of a player: what it is, how it was made, what it is worth."""
    card = player.card
    unit = get_game(card.game).unit
    rows = []
    for rating in card.ratings:
        knobs = "".join(f", `{knob}={value}`" for knob, value in rating.knobs.items())
        where = f"`{rating.preset}`{knobs}, {rating.players} seats"
        edge = f"{rating.mean:+.3f} ± {rating.ci95:.3f}"
        rows.append([where, f"`{rating.field}`", edge, f"{rating.deals:,}", str(rating.seed)])
    effort = f"{card.decisions / 1e6:.3g} million decisions, {card.seconds / 60:.1f} minutes"
    commands = "\n".join(card.made_by)
    return "\n".join(
        [
            f"### {player.plays_at}\n",
            f"{card.note} Trained by [{card.algorithm}](trainer_{card.algorithm}.md): {effort}, "
            f"at commit {str(card.commit)[:12]}. `{player.path.parent.name}/{player.path.name}`, "
            f"{player.path.stat().st_size / 1e6:.2f} MB.\n",
            f"```\n{commands}\n```\n",
            markdown_table(["at", "over a field of", f"edge, {unit} a round", "deals", "seed"], rows),
        ]
    )


def study_table(columns: Sequence[study.ColumnSpec]) -> str:
    """Columns of a study's files; those that are numbers of one field in a row."""
    rows = []
    for _, group in groupby(columns, lambda column: (column.source, column.field) if column.part is not None else column.name):
        first, *others = group
        names = " … ".join(f"`{column.name}`" for column in (first, *others[-1:]))
        units = [get_game(name).unit for name in game_names() if get_game(name).features is not None]
        unit = " or ".join(units) if first.unit == "payoff" else first.unit
        rows.append([names, first.kind, unit, "" if first.seen else "hidden", first.meaning])
    return markdown_table(["column", "type", "unit", "", "meaning"], rows)


def study_page() -> str:
    """The columns of a study, of any game and of each."""
    parts = [
        (DOCS / "heads" / "study_columns.md").read_text(encoding="utf-8"),
        "## Of a decision, in any game\n",
        study_table(study.of_any_decision()),
        "## Of what a search found\n\nWith `--search`. In the file of decisions:\n",
        study_table(study.SEARCHED),
        "In the file of options, beside what finds the decision (`preset` to `deal`, `round_number`, `ply`) and what the game "
        "tells of the action, which there begins with `option_` (`option_rank`):\n",
        study_table(study.OPTIONS),
        "## Of a seat in a round, in any game\n",
        study_table(study.of_any_round()),
    ]
    for setup in (get_game(name).setup() for name in game_names() if get_game(name).features is not None):
        parts += [
            f"## {setup.game.title}\n\nAs with {setup.players} seats.\n",
            "### Where a seat stands\n\nIn the file of decisions; in that of rounds as it was when the round had been dealt.\n",
            study_table(study.of_position(setup)),
            "### What it does\n\nIn the file of decisions.\n",
            study_table(study.of_action(setup)),
            "### What it did in the round\n\nIn the file of rounds.\n",
            study_table(study.counted(setup)),
        ]
    return "\n".join(parts)


def new_game_page() -> str:
    """The page on how to add a game, with the files that its head names quoted as they are."""

    def quoted(match: re.Match[str]) -> str:
        path = DOCS.parent / match[1]
        return f"`{match[1]}`:\n\n```{path.suffix[1:].replace('py', 'python')}\n{path.read_text(encoding='utf-8')}```"

    return re.sub(r"<!-- quote: (\S+) -->", quoted, (DOCS / "heads" / "new_game.md").read_text(encoding="utf-8"))


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    found = {f"{name}.md": page(get_game(name)) for name in game_names()}
    found.update({f"trainer_{name}.md": trainer_page(name) for name in trainer_names()})
    found["zoo.md"] = zoo_page()
    found["study_columns.md"] = study_page()
    found["new_game.md"] = new_game_page()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; show what has drifted and exit with 1")
    parser.add_argument("--into", type=Path, default=DOCS, help="folder of the pages (default: where this file lies)")
    options = parser.parse_args()
    drifted = False
    for name, new in pages().items():
        path = options.into / name
        if not options.check:
            path.write_text(new, encoding="utf-8")
            continue
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), f"{path.name} as it is", "as the code says", lineterm="")
        for line in diff:
            drifted = True
            print(line)
    if drifted:
        print("The pages have drifted from the code; run: python docs/generate.py", file=sys.stderr)
    return int(drifted)


if __name__ == "__main__":
    sys.exit(main())
