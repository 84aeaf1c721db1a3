"""Write what is generated in the docs: sections of pages, each between two comments with its name.

They are presets, knobs, actions, observation features and measures of every game, the code that the page on a new game quotes,
the results in the README, the keys and metrics of every trainer, the players of the model registry with their model cards,
the columns of a study, the lengths of texts, and the picture of the rooms.

python docs/generate.py           write the pages
python docs/generate.py --check   write nothing; show the differences and exit with 1 if there are any
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from nainjaune_agents.base.settings import described
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.zoo import PREFIX, ModelCard, Player, Rating, player_registry
from nainjaune_agents.study import columns as study
from nainjaune_agents.train import get_trainer, trainer_names
from nainjaune_env import game_names, get_game
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.core.rules_docs import markdown_table
from nainjaune_env.core.spec import GameSpec
from results import result_table
from rooms import room_svg
from text_lengths import length_table

DOCS = Path(__file__).resolve().parent
QUOTED = [f"nainjaune_env/games/signal_lamps/{name}.py" for name in ("kernel", "encode")]
"""The files that the page on a new game quotes."""


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


def game_tables(game: GameSpec) -> str:
    """Returns the tables on the page of one game."""
    layout = game.layout(game.default_players)
    parts = [
        f"## Actions\n\n{len(game.actions)} actions, `Discrete({len(game.actions)})`.\n",
        action_table(game),
        f"## Observation\n\n{layout.size} bytes with {game.default_players} players; fingerprint `{layout.fingerprint}`.\n",
        layout.markdown(),
    ]
    if game.measures is not None:
        parts += [
            "## Measures\n\nPer seat and round, as in [reports](evaluation.md#how-they-play).\n",
            measure_table(game.measures),
        ]
    return "\n".join(parts)


def quotation(path: str) -> str:
    """Returns a file of the repository as a page shows it."""
    return f"`{path}`:\n\n```python\n{(DOCS.parent / path).read_text(encoding='utf-8')}```"


def shared_by_trainers(rows_of: Callable[[str], list[list[str]]]) -> list[list[str]]:
    """Returns a row for each name that every trainer has, as most of them have it; none where no two of them agree."""
    rows_by_trainer = [rows_of(name) for name in trainer_names()]
    shared = []
    for label, *_ in rows_by_trainer[0]:
        same_name = [tuple(row) for rows in rows_by_trainer for row in rows if row[0] == label]
        row, count = Counter(same_name).most_common(1)[0]
        if len(same_name) == len(rows_by_trainer) and count > 1:
            shared.append(list(row))
    return shared


def key_rows(name: str) -> list[list[str]]:
    """Returns a row for each configuration key of a trainer, but for the key that names it."""
    options = described(get_trainer(name).Config)
    return [[f"`{key}`", f"`{default}`", meaning] for key, default, meaning in options if key != "algorithm"]


def metric_rows(name: str) -> list[list[str]]:
    """Returns a row for each metric of a trainer."""
    return [[f"`{metric}`", meaning] for metric, meaning in get_trainer(name).METRICS.items()]


def key_table(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table of configuration keys."""
    return markdown_table(["key", "default", "meaning"], rows)


def metric_table(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table of metrics."""
    return markdown_table(["metric", "meaning"], rows)


def other_rows(name: str, rows_of: Callable[[str], list[list[str]]]) -> list[list[str]]:
    """Returns the rows of a trainer that neither the page of all trainers nor that of its base has in the same words."""
    modules = [cls.__module__.rpartition(".")[2] for cls in get_trainer(name).Config.__mro__]
    base = next((module for module in modules if module in trainer_names() and module != name), None)
    elsewhere = [*shared_by_trainers(rows_of), *(rows_of(base) if base else [])]
    return [row for row in rows_of(name) if row not in elsewhere]


def trainer_sections(name: str) -> dict[str, str]:
    """Returns the tables of one trainer."""
    return {"keys": key_table(other_rows(name, key_rows)), "metrics": metric_table(other_rows(name, metric_rows))}


def players() -> list[tuple[str, Player]]:
    """Returns every file of the model registry with the name of its player."""
    registry = player_registry()
    return [(f"{PREFIX}{name}", player) for name in registry.names() for player in registry.players(name)]


def decisions_of(card: ModelCard) -> str:
    """Returns the number of decisions that a player learned from."""
    return f"{card.decisions / 1e6:,.0f} million"


def trainer_link(card: ModelCard, docs: str = "") -> str:
    """Returns a link to the page of the trainer, or to the example that is one; ``docs`` is the way to the folder of pages."""
    page = f"trainer_{card.algorithm}.md" if card.algorithm in trainer_names() else f"../examples/{card.algorithm}.py"
    return f"[{card.algorithm}]({docs}{page})"


def player_table() -> str:
    """Returns a row for each file of the model registry."""
    rows = []
    for name, player in players():
        card = player.card
        effort = decisions_of(card), f"{card.seconds / 60:.0f} min"
        size = f"{player.path.stat().st_size / 1e6:.1f} MB"
        rows.append([f"`{name}`", player.plays_at, trainer_link(card), *effort, size])
    return markdown_table(["player", "plays at", "trainer", "decisions", "trained for", "file"], rows)


def model_cards() -> str:
    """Returns the section of each file of the model registry: how it was made, and its edges."""
    parts = []
    for name, named in groupby(players(), lambda pair: pair[0]):
        parts.append(f"## {name}\n")
        parts += [player_section(player) for _, player in named]
    return "\n".join(parts)


def player_section(player: Player) -> str:
    """Returns the section of one file of a player."""
    card = player.card
    unit = get_game(card.game).unit
    columns = ["table", "over a field of", f"edge, {unit} a round", "deals", "seed"]
    parts = [markdown_table(columns, [rating_row(rating.field, rating) for rating in card.ratings])]
    if card.search_gains:
        columns = ["table", "gain left to a search", f"{unit} a round", "deals", "seed"]
        parts.append("\n" + markdown_table(columns, [rating_row(f"@{gain.search}", gain) for gain in card.search_gains]))
    effort = f"{decisions_of(card)} decisions, {card.seconds / 60:.0f} minutes"
    commands = "\n".join(card.made_by)
    return "\n".join(
        [
            f"### {player.plays_at}\n",
            f"{card.note} Trained by {trainer_link(card, '../')}: {effort}, "
            f"{card.made_at}. `{player.path.parent.name}/{player.path.name}`.\n",
            f"```\n{commands}\n```\n",
            *parts,
        ]
    )


def rating_row(what: str, rating: Rating) -> list[str]:
    """Returns the row of ``rating``, with ``what`` in the second column."""
    return [rating.table, f"`{what}`", mean_ci(rating.mean, rating.ci95), f"{rating.deals:,}", str(rating.seed)]


def study_table(columns: Sequence[study.ColumnSpec]) -> str:
    """Returns a table of study columns; the parts of one field share a row."""
    rows = []
    for _, group in groupby(columns, lambda column: (column.source, column.field) if column.part is not None else column.name):
        first, *others = group
        names = " … ".join(f"`{column.name}`" for column in (first, *others[-1:]))
        units = [get_game(name).unit for name in game_names() if get_game(name).features is not None]
        unit = " or ".join(units) if first.unit == "payoff" else first.unit
        rows.append([names, unit, first.meaning if first.seen else f"{first.meaning} *Hidden.*"])
    return markdown_table(["column", "unit", "meaning"], rows)


def study_columns() -> str:
    """Returns the tables of study columns: those of any game, then those of each game."""
    of_a_decision = study.of_any_decision()
    parts = [
        "## Decisions, in any game\n",
        study_table(of_a_decision),
        "## Search results\n\nWith `--search`. In the file of decisions:\n",
        study_table(study.SEARCHED),
        "In the file of options, beside the columns that identify the decision (`preset` to `deal`, `round_number`, `ply`) and "
        "the game's features of the action, whose names begin with `option_` there (`option_rank`):\n",
        study_table(study.OPTIONS),
        "## Rounds, one row per seat, in any game\n",
        f"{', '.join(f'`{column.name}`' for column in study.of_any_round() if column in of_a_decision)} as above, and\n",
        study_table([column for column in study.of_any_round() if column not in of_a_decision]),
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


def sections() -> dict[str, dict[str, str]]:
    """Returns the generated sections of the pages that people write, by page and by name."""
    return {
        "../README.md": {"results": result_table()},
        **{f"{name}.md": {"tables": game_tables(get_game(name))} for name in game_names()},
        "new_game.md": {path: quotation(path) for path in QUOTED},
        "training.md": {
            "keys": key_table(shared_by_trainers(key_rows)),
            "metrics": metric_table(shared_by_trainers(metric_rows)),
        },
        **{f"trainer_{name}.md": trainer_sections(name) for name in trainer_names()},
        "zoo.md": {"players": player_table()},
        "lab/models.md": {"model cards": model_cards()},
        "text.md": {"lengths": length_table()},
        "study_columns.md": {"columns": study_columns()},
    }


def with_section(page: str, text: str, name: str, section: str) -> str:
    """Returns ``text`` with ``section`` between its comments ``<!-- name -->`` and ``<!-- /name -->``.

    Raises ValueError unless each of them is there once.
    """
    between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    if len(between.findall(text)) != 1:
        raise ValueError(f"docs/{page} must have the comments <!-- {name} --> and <!-- /{name} --> once each, in this order.")
    return between.sub(lambda _: f"\n{section.strip()}\n\n", text)


def pages() -> dict[str, str]:
    """Returns every page that has a generated section, and the picture of the rooms, by its path in ``docs/``."""
    made = {}
    for name, named in sections().items():
        text = (DOCS / name).read_text(encoding="utf-8")
        for section, content in named.items():
            text = with_section(name, text, section, content)
        made[name] = text
    made["images/rooms.svg"] = room_svg()
    return made


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
