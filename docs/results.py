"""The results in the README, from the last run of ``benchmarks/speed.py`` and from the model cards of the registry."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env import get_game
from nainjaune_env.core.rules_docs import markdown_table

RATES = Path(__file__).resolve().parents[1] / "benchmarks" / "taken" / "speed.json"
TABLES = 65536


def result_table() -> str:
    """Returns the table of results."""
    return markdown_table(["measured", "result"], [*rate_rows(), *strength_rows()])


def rate_rows() -> list[list[str]]:
    """Returns rows on the speed of the environment: medians over repeats."""
    cases = json.loads(RATES.read_text(encoding="utf-8"))["cases"]

    def rates(**fields: str | int) -> list[float]:
        """Returns the rates, one a repeat, of the only case with these fields."""
        (case_rates,) = (case["rates"] for case in cases if fields.items() <= case.items())
        return list(case_rates)

    def ours(name: str, threads: int) -> list[float]:
        return rates(library="ours", preset="djeco", name=name, tables=TABLES, threads=threads)

    def times(peer: str) -> str:
        """Returns our rate by the peer's, taken within repeats and rounded down."""
        pairs = zip(ours("plies+observation", 1), rates(library="peers", name=peer, threads=1), strict=True)
        tenths = int(10 * statistics.median(our / their for our, their in pairs))
        return f"{tenths // 10 if tenths >= 1000 else tenths / 10} times"

    def millions(name: str) -> str:
        one, two = (statistics.median(ours(name, threads)) / 1e6 for threads in (1, 2))
        return f"{one:.3g} million on one thread, {two:.3g} million on two"

    return [
        ["plies a second, `djeco`, 4 seats, with observation and mask", millions("plies+observation")],
        ["the same, one thread, beside OpenSpiel `crazy_eights`; RLCard `uno`", f"{times('crazy_eights')}; {times('uno')}"],
        ["plies a second of random rounds in one compiled loop", millions("plies in rollouts")],
    ]


def strength_rows() -> list[list[str]]:
    """Returns rows on the strength of ``zoo:strong`` from a fresh start, with the deals and the seed of each row."""
    ratings = [rating for player in player_registry().players("strong") for rating in player.card.ratings]

    def edges(tables: Sequence[str], field: str, names: Sequence[str]) -> str:
        """Returns the edges at tables over a field, each from the file that was rated over most deals there."""
        rated = [max((r for r in ratings if (r.table, r.field) == (table, field)), key=lambda r: r.deals) for table in tables]
        ((deals, seed),) = {(rating.deals, rating.seed) for rating in rated}
        shown = (f"{name} {mean_ci(rating.mean, rating.ci95)}" for name, rating in zip(names, rated, strict=True))
        return f"{' · '.join(shown)} ({deals:,} deals, seed {seed})"

    presets = list(get_game("nain_jaune").presets)
    by_preset = edges([f"{name}, 4 seats" for name in presets], "closer", [f"`{name}`" for name in presets])
    seen = edges(["batasaurus, 2 seats", "batasaurus, memory perfect, 2 seats"], "random", ["cards seen once", "always visible"])
    return [
        ["edge of `zoo:strong` over `closer`, the yardstick, in chips a round, 4 seats", by_preset],
        ["edge of `zoo:strong` over `random` in Batasaurus, in cards a round, 2 seats", seen],
    ]
