"""Rates the player that a name gives under every house rule.

Settings are every value of each knob alone, at every preset and number of seats, and random pairs of knobs; or, with --random,
that many with one to four random knobs; or, with --drawn, that many of which every knob is drawn, numbers from RANGES. Each is a
line of --out: the edge over a field of --field by duplicate play, with the file of the registry that plays there, or the sentence
by which the player is refused. A run that was stopped continues. --markdown prints the table of docs/lab/zoo.md, or with --drawn
that of docs/zoo.md.

--card writes the house rules of a model card: the single values at which the edge is clearly above 0 in every file of --results.
With --drawn N it writes whether the player is a fallback for any rules: of N settings or more it is clearly above 0 at 97 of 100,
and below 0 at none.

  python benchmarks/house_rules.py --agent zoo:strong --field closer --deals 3000 --seed 192 --pairs 200 --out house_rules.jsonl
  python benchmarks/house_rules.py --results house_rules.jsonl --card agents/players/zoo/mine/nain_jaune.json
  python benchmarks/house_rules.py --drawn 300 --rules-seed 3 --deals 20000 --seed 523 --out drawn.jsonl
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.loading import checkpoint_path, load_agent
from nainjaune_agents.players.zoo import HouseRules, load_card, save_card
from nainjaune_env.core.errors import AgentError, CheckpointError, RulesError
from nainjaune_env.core.random_rules import knob_samples, random_setups
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.registry import get_game

Setting = tuple[str, int, dict[str, Any]]
"""A preset, a number of seats, and knobs."""

RANGES: dict[str, Sequence[Any]] = {
    "unannounced": range(4),
    "stake": range(1, 21),
    "starting_stack": (None, 30, 49, 60, 100, 200, 500, 1000),
    "max_rounds": (None, 1, 6, 12, 24),
    "ranks": range(8, 14),
    "suits": (3, 4),
    "hand": (None, *range(4, 13)),
}
"""The numbers of --drawn in Nain Jaune, as a household might set them; other knobs take each of their choices."""
ENOUGH_ABOVE = 0.97
"""Least share of drawn settings at which a player for any rules is clearly above 0."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="nain_jaune")
    parser.add_argument("--agent", default="zoo:strong", help="the hero (default: %(default)s)")
    parser.add_argument("--field", default="closer", help="the agent of the field (default: %(default)s)")
    parser.add_argument("--preset", help="only this one (default: all)")
    parser.add_argument("--players", type=int, help="only this number of seats (default: all)")
    parser.add_argument("--deals", type=int, default=400, help="of each setting (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=190, help="of the deals, and of the random pairs (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=200, help="settings with two random knobs (default: %(default)s)")
    parser.add_argument("--random", type=int, metavar="N", help="only N settings with one to four random knobs")
    parser.add_argument("--drawn", type=int, metavar="N", help="only N settings of which every knob is drawn from RANGES")
    parser.add_argument("--rules-seed", type=int, default=0, help="of these settings (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("house_rules.jsonl"), help="default: %(default)s")
    parser.add_argument("--markdown", action="store_true", help="print the table of what --out has, and play nothing")
    parser.add_argument("--card", type=Path, metavar="JSON", help="write the house rules of this model card, and play nothing")
    parser.add_argument("--results", type=Path, nargs="+", help="with --card: files of results")
    return parser.parse_args(arguments)


def make(game: GameSpec, setting: Setting) -> Setup | None:
    """Returns the setup of a setting; None where the rules do not allow it."""
    preset, players, knobs = setting
    try:
        return game.setup(preset, players, **knobs)
    except RulesError:
        return None


def settings(game: GameSpec, tables: Sequence[tuple[str, int]], pairs: int, seed: int) -> Iterator[Setting]:
    """Yields ``tables`` (preset, seats) as they are, with every knob's values alone, then ``pairs`` random pairs of knobs."""
    tried = knob_samples(game)
    for preset, players in tables:
        rules = game.presets[preset].rules
        yield preset, players, {}
        for name, choices in tried.items():
            yield from ((preset, players, {name: value}) for value in choices if value != getattr(rules, name))
    yield from drawn(game, tables, pairs, seed, knobs=[2])


def drawn(
    game: GameSpec, tables: Sequence[tuple[str, int]], number: int, seed: int, knobs: Sequence[int] | None
) -> Iterator[Setting]:
    """Yields settings with random knobs at ``tables``: how many knobs is drawn from ``knobs``; None: all, from ``RANGES``."""
    bases, rng = [game.setup(preset, players) for preset, players in tables], np.random.default_rng(seed)
    values = None if knobs is not None else {**knob_samples(game), **RANGES}
    setups = random_setups(bases, rng, knobs=knobs, values=values)
    return ((setup.preset, setup.players, dict(setup.knobs)) for setup in itertools.islice(setups, number))


def rate(setup: Setup, hero: str, field: str, deals: int, seed: int) -> dict[str, Any]:
    """Returns the edge of ``hero``, or the sentence by which it is refused."""
    try:
        agent = load_agent(hero, setup)
    except (AgentError, CheckpointError) as error:
        return {"refused": str(error)}
    path = checkpoint_path(hero, setup)
    edge = FieldAlone(OwnGame(setup, seed), load_agent(field, setup), deals).edge(agent)
    return {
        "player": agent.name,
        "file": None if path is None else path.stem,
        "mean": round(edge.mean, 4),
        "ci95": round(edge.ci95, 4),
    }


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Returns the lines of a file of results; none where there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


COUNTS = {2: "two", 3: "three", 4: "four"}


def markdown(rows: list[dict[str, Any]], *, drawn: bool = False) -> str:
    """Returns a table: the settings, those clearly above and below 0, and the lowest edge.

    Rows are by knob and value; of ``drawn`` settings by preset, and all.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        knobs = row["knobs"]
        name = "a preset as it is" if not knobs else f"{COUNTS.get(len(knobs), len(knobs))} random knobs"
        if len(knobs) == 1:
            name = "`{}={}`".format(*next(iter(knobs.items())))
        groups.setdefault(f"`{row['preset']}`" if drawn else name, []).append(row)
    if drawn:
        groups["all"] = rows
    lines = [
        f"| {'preset' if drawn else 'knob'} | {'settings' if drawn else 'tables'} | above 0 | below 0 | refused | lowest edge |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, rows_of_name in groups.items():
        rated = [row for row in rows_of_name if "mean" in row]
        above = sum(row["mean"] > row["ci95"] for row in rated)
        below = sum(row["mean"] < -row["ci95"] for row in rated)
        worst = min(rated, key=lambda row: (row["mean"] + row["ci95"], row["mean"]), default=None)
        lowest = ""
        if worst is not None:
            lowest = f"{mean_ci(worst['mean'], worst['ci95'], 2)} (`{worst['preset']}`, {worst['players']} seats)"
        lines.append(f"| {name} | {len(rows_of_name)} | {above} | {below} | {len(rows_of_name) - len(rated)} | {lowest} |")
    return "\n".join(lines)


def plays_any(rows: Sequence[dict[str, Any]], settings: int) -> bool:
    """Returns whether the edges of ``rows`` at ``settings`` or more are those of a player for any rules.

    A refusal is not above 0.
    """
    above = sum(row.get("mean", 0) > row.get("ci95", 0) for row in rows)
    below = sum(row.get("mean", 0) < -row.get("ci95", 0) for row in rows)
    return len(rows) >= settings and not below and above >= ENOUGH_ABOVE * len(rows)


def without_gaps(tried: list[Any], good: list[Any], usual: Any) -> list[Any]:
    """Returns ``usual`` and the ``good`` values, but of numbers only those without another ``tried`` one between them.

    Between numbers on a card every number counts. Those around the usual one stay, or the longest run of them.
    """
    values = [usual, *good]
    runs: list[list[int]] = [[]]
    for number in sorted({value for value in (usual, *tried) if type(value) is int}):
        if number in values:
            runs[-1].append(number)
        else:
            runs.append([])
    longest = max(runs, key=lambda run: (usual in run, len(run)))
    return [value for value in values if type(value) is not int or value in longest]


def house_rules(game: GameSpec, results: list[list[dict[str, Any]]], *, presets: bool) -> list[HouseRules]:
    """Returns the tables, and the values of single knobs, at which the edge is clearly above 0 in each of ``results``.

    Tables with equal values stand together. ``presets``: whether the preset as it is must be among them.
    """
    clear = [
        [(row["preset"], row["players"], row["knobs"]) for row in rows if row.get("mean", 0) > row.get("ci95", 0)]
        for rows in results
    ]
    good = [setting for setting in clear[0] if all(setting in others for others in clear[1:])]
    merged: dict[str, HouseRules] = {}
    for preset, players in dict.fromkeys((preset, players) for preset, players, _ in good):
        table = game.setup(preset, players)
        knobs: dict[str, list[Any]] = {}
        for knob in table.rules.names():
            tried = [
                row["knobs"][knob]
                for row in results[0]
                if (row["preset"], row["players"], [*row["knobs"]]) == (preset, players, [knob])
            ]
            values = without_gaps(
                tried, [value for value in tried if (preset, players, {knob: value}) in good], getattr(table.rules, knob)
            )
            if any(not table.same_round(game.setup(preset, players, **{knob: value})) for value in values):
                knobs[knob] = values
        if (preset, players, {}) in good if presets else knobs:
            merged.setdefault(repr((preset, knobs)), HouseRules(preset, [], knobs)).players.append(players)
    return [*merged.values()]


def main(arguments: list[str] | None = None) -> None:
    """Rates all settings that --out does not have yet."""
    options = parse(arguments)
    if options.markdown:
        print(markdown(rows_of(options.out), drawn=options.drawn is not None))
        return
    game = get_game(options.game)
    if options.card is not None:
        card = load_card(options.card)
        results = [rows_of(path) for path in options.results]
        if options.drawn is not None:
            save_card(options.card, dataclasses.replace(card, fallback=plays_any([*itertools.chain(*results)], options.drawn)))
            return
        tables = house_rules(get_game(card.game), results, presets=card.anywhere)
        save_card(options.card, dataclasses.replace(card, house_rules=tables))
        return
    load_agent(options.agent, game.setup())  # torch is imported before its threads are set
    set_torch_threads(1)
    run = {name: getattr(options, name) for name in ("agent", "field", "deals", "seed")}
    done = rows_of(options.out)
    if any({name: row[name] for name in run} != run for row in done):
        sys.exit(f"{options.out} has results of other agents, deals or seeds.")
    tables = [
        (preset_name, players)
        for preset_name, preset in game.presets.items()
        for players in preset.players
        if options.preset in (None, preset_name) and options.players in (None, players)
    ]
    known = [(row["preset"], row["players"], row["knobs"]) for row in done]
    if options.drawn is not None:
        chosen = drawn(game, tables, options.drawn, options.rules_seed, knobs=None)
    elif options.random is not None:
        chosen = drawn(game, tables, options.random, options.rules_seed, knobs=(1, 2, 3, 4))
    else:
        chosen = settings(game, tables, options.pairs, options.seed)
    with options.out.open("a") as out:
        for setting in tqdm([*chosen], unit="setting"):
            setup = make(game, setting)
            if setup is None or setting in known:
                continue
            preset_name, players, knobs = setting
            result = rate(setup, options.agent, options.field, options.deals, options.seed)
            out.write(json.dumps({"preset": preset_name, "players": players, "knobs": knobs, **run, **result}) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
