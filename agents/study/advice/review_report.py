"""A review as text, CSV and JSON values: totals by player and kind of decision, and the costliest mistakes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from nainjaune_env.analysis.advice_hook import signed
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import grouped

from ...measure.report.text import align
from ...measure.stats.intervals import Z_95
from .playouts import advice_hooks_of
from .reasons import why
from .review import Decision, Total
from .texts import TEXTS
from .to_text import position_lines, wrapped

CSV_HEAD = ("match", "round", "move", "seat", "player", "kind", "played", "best", "regret", "ci95", "mistake")


def review_text(reviews: Sequence[Decision], *, file: str, model: str, deals: int, worst: int, language: str) -> str:
    """Returns the totals of each player, the ``worst`` mistakes as positions, and how the numbers were obtained."""
    texts = TEXTS[language]
    units = dict.fromkeys(advice_hooks_of(one.pick.setup.game).UNITS[language] for one in reviews)
    heads = ["", "", texts.decisions, texts.mistakes, texts.lost.format(unit=", ".join(units)), texts.a_round]
    by_player = {player: [one for one in reviews if one.pick.player == player] for player in _players(reviews)}
    rows = [row for player, some in by_player.items() for row in _rows(player, some, language)]
    lines = align([heads, *rows], left=(0, 1))
    details = [line for one in costliest(reviews, worst) for line in ["", *_mistake(one, file, language)]]
    mistakes = [texts.costliest, *details, ""] if details else []
    if not any(one.mistake for one in reviews):
        mistakes = [texts.none, ""]
    about = wrapped(texts.meaning.format(deals=grouped(deals, language), model=model))
    return "\n".join([*lines, "", *mistakes, *about])


def costliest(reviews: Sequence[Decision], count: int) -> list[Decision]:
    """Returns at most ``count`` mistakes, the costliest first."""
    return sorted((one for one in reviews if one.mistake), key=lambda one: -one.regret)[:count]


def _players(reviews: Sequence[Decision]) -> list[str]:
    return list(dict.fromkeys(one.pick.player for one in reviews))


def _rounds(reviews: Sequence[Decision]) -> int:
    """Returns the number of rounds of a seat that have decisions."""
    return len({(one.pick.match, one.pick.ply.part, int(one.pick.ply.table.seat)) for one in reviews})


def _rows(player: str, reviews: Sequence[Decision], language: str) -> list[list[str]]:
    """Returns a player's row, and one for each kind of decision."""
    names = [(kind.name, kind.title[language]) for setup in _setups(reviews) for kind in advice_hooks_of(setup.game).KINDS]
    rounds = _rounds(reviews)
    rows = [[printable(player), TEXTS[language].all_kinds, *_cells(Total.of(reviews), rounds, language)]]
    for name, title in dict.fromkeys(names):
        some = [one for one in reviews if kind_name(one) == name]
        if some:
            rows.append(["", title, *_cells(Total.of(some), rounds, language)])
    return rows


def _cells(total: Total, rounds: int, language: str) -> list[str]:
    def interval(number: float, error: float, digits: int) -> str:
        half = signed(Z_95 * error, language, digits).lstrip("+")
        return f"{signed(number, language, digits).lstrip('+')} ± {half}"

    lost, a_round = interval(total.regret, total.error, 1), interval(total.regret / rounds, total.error / rounds, 2)
    return [str(total.decisions), str(total.mistakes), lost, a_round]


def _setups(reviews: Sequence[Decision]) -> list[Setup]:
    return list({one.pick.setup.game.name: one.pick.setup for one in reviews}.values())


def kind_name(one: Decision) -> str:
    """Returns the kind of a decision as files name it."""
    return advice_hooks_of(one.pick.setup.game).KINDS[one.kind].name


def _mistake(one: Decision, file: str, language: str) -> list[str]:
    """Returns the lines on a mistake: where it is, the position, the better move and why, and the command for more."""
    texts, ply, setup = TEXTS[language], one.pick.ply, one.pick.setup
    hooks = advice_hooks_of(setup.game)
    where = {"file": file, "match": one.pick.match, "round": ply.part, "move": ply.number}
    title = hooks.KINDS[one.kind].title[language]
    seat = f"{printable(one.pick.player)}, {int(ply.table.seat)}"
    played, best = (hooks.named(ply.table, action, language) for action in (ply.action, one.best))
    assert one.advice is not None
    reason = wrapped(why(setup, ply.table, one.advice, 0, ply.action, language))
    lines = [*position_lines(setup, ply.table, language), texts.played.format(played=played, best=best)]
    return [
        texts.where.format(**where, player=seat, kind=title),
        *(f"  {line}" for line in [*lines, *reason, texts.ask.format(**where)]),
    ]


def csv_text(reviews: Sequence[Decision]) -> str:
    """Returns the CSV with one row per decision, in the names of records."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_HEAD, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_json_row, reviews))
    return out.getvalue()


def _json_row(one: Decision) -> dict[str, Any]:
    pick, names = one.pick, one.pick.setup.game.actions
    return {
        "match": pick.match,
        "round": pick.ply.part,
        "move": pick.ply.number,
        "seat": int(pick.ply.table.seat),
        "player": pick.player,
        "kind": kind_name(one),
        "played": names[pick.ply.action],
        "best": names[one.best],
        "regret": round(one.regret, 4),
        "ci95": round(Z_95 * one.error, 4),
        "mistake": int(one.mistake),
    }


def to_json(reviews: Sequence[Decision]) -> dict[str, Any]:
    """Returns totals by player, over all decisions and by kind, and every decision, as JSON values."""
    players = {}
    for player in _players(reviews):
        rows = [one for one in reviews if one.pick.player == player]
        kinds = {name: _total([one for one in rows if kind_name(one) == name]) for name in dict.fromkeys(map(kind_name, rows))}
        players[player] = {"rounds": _rounds(rows), **_total(rows), "kinds": kinds}
    return {"players": players, "decisions": [_json_row(one) for one in reviews]}


def _total(reviews: Sequence[Decision]) -> dict[str, Any]:
    total = Total.of(reviews)
    return {
        "decisions": total.decisions,
        "mistakes": total.mistakes,
        "regret": round(total.regret, 4),
        "ci95": round(Z_95 * total.error, 4),
    }
