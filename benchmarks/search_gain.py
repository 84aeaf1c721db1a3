"""Measures the gain left to a search: of PLAYER@search=K,inference=policy in one seat, PLAYER in all others, table by table.

It is the last step of `nainjaune exploit` with this one candidate, by control variates. --out receives the numbers of each table
and the deals that are finished, and the same command resumes from them.

  python benchmarks/search_gain.py zoo:strong --tables djeco:4 skip:2 --search 50 --deals 500 --seed 7 --out results/gain
  python benchmarks/search_gain.py zoo:strong --tables classic:4 --search 200 --deals 500 --workers 8 --out results/gain --card
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.cli.arguments import add_seed_argument, integer
from nainjaune_agents.cli.progress import progress_bar
from nainjaune_agents.cli.workers import add_place_arguments, check_place, place_of
from nainjaune_agents.measure.best_response import BestResponseGap, best_response_gap
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import decimal, mean_of_deals
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search.inference import BY_POLICY
from nainjaune_agents.players.zoo import Player, SearchGain, load_card, player_registry, save_card
from nainjaune_env import make_setup
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, NainJauneError, quoted
from nainjaune_env.core.spec import Setup

CHUNK = 32
"""Deals of a unit: some seconds of a search of 200."""


def table(text: str) -> Setup:
    """Returns the setup of ``skip:2``; raises :class:`NainJauneError` where there is none."""
    preset, colon, players = text.partition(":")
    if not (preset and colon and players.isdecimal()):
        raise ConfigError(f"A table is a preset and its seats, as skip:2, not {quoted(text)}.")
    return make_setup(None, preset, int(players))


def row(name: str, gap: BestResponseGap) -> str:
    """Returns the row of the table ``name``."""
    gain, plain = gap.gain.moments, gap.duplicate
    highest = decimal(gain.mean + gain.half_width, "+.3f") if not math.isnan(gain.half_width) else "–"
    saved = f"{plain.variance / gain.variance:.1f}" if plain is not None and gain.variance else "–"
    return f"| `{name}` | {gain.count:,} | {mean_of_deals(gain)} | {highest} | {saved} |"


def put_on_card(player: Player, setup: Setup, search: str, gap: BestResponseGap, seed: int) -> None:
    """Writes the gain to the card of ``player``, in place of one by the same search at the same table."""
    edge, path = gap.gain, player.path.with_suffix(".json")
    if math.isnan(edge.ci95):
        raise ConfigError(f"A card has gains with an interval, and {setup.preset}:{setup.players} has none: play more --deals.")
    gain = SearchGain(
        search=search.partition("@")[2], field=player.name, preset=setup.preset, players=setup.players, knobs=setup.knobs,
        mean=round(edge.mean, 4), ci95=round(edge.ci95, 4), deals=edge.moments.count, seed=seed,
    )  # fmt: skip
    card = load_card(path)
    kept = [other for other in card.search_gains if (other.search, other.table) != (gain.search, gain.table)]
    save_card(path, replace(card, search_gains=[*kept, gain]))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", help="an agent by its name, without memory")
    parser.add_argument("--tables", nargs="+", required=True, metavar="PRESET:SEATS")
    parser.add_argument("--search", type=integer(1, 10_000), default=50, help="deals an action (default: %(default)s)")
    parser.add_argument("--deals", type=integer(2), default=500, help="at each table (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the gains of each table and what is unfinished")
    parser.add_argument("--card", action="store_true", help="put the gains on the cards of PLAYER, which is one of the zoo")
    add_seed_argument(parser)
    add_place_arguments(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measures each table, writes its numbers and prints its row."""
    options = parse(arguments)
    set_torch_threads(1)
    try:
        check_place(options)
        search = f"{options.player}@search={options.search},inference={BY_POLICY}"
        setups = {name: table(name) for name in options.tables}
        pairs = {name: [load_agent(agent, setup) for agent in (options.player, search)] for name, setup in setups.items()}
        registry = player_registry()
        files = {name: registry.find(options.player, setup) for name, setup in setups.items()} if options.card else None
        print(f"Gain of {search} in a field of {options.player}, a round, seed {options.seed}, 95 % intervals over deals\n")
        print("| table | deals | gain | upper end | deals saved |\n|---|---:|---|---:|---:|", flush=True)
        notes: dict[str, None] = {}
        for name, setup in setups.items():
            folder = options.out / name.replace(":", "-")
            with Store(folder / "rows") as store, progress_bar(total=options.deals, unit="deal") as bar:
                gap = best_response_gap(
                    OwnGame(setup, options.seed), pairs[name][0], pairs[name][1:], deals=options.deals, choosing=0, chunk=CHUNK,
                    store=store, progress=bar.update, executor=place_of(options, bar.set_postfix_str),
                )  # fmt: skip
            results: dict[str, Any] = {**setup.to_dict(), "target": options.player, "seed": options.seed, **gap.to_dict()}
            write_text(folder / "gain.json", json.dumps(results, indent=2) + "\n")
            print(row(name, gap), flush=True)
            notes |= dict.fromkeys(gap.notes)
            if files is not None:
                put_on_card(files[name], setup, search, gap, options.seed)
        print("\n".join(["", *notes]))
    except NainJauneError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
