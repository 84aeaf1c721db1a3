"""Advice as text: a position, a row for each move, the best first, and the reasons."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import Prospect, percent, signed
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import grouped, sentence

from ...measure.report.text import align
from ...measure.stats.intervals import Z_95
from .adviser import Advice
from .playouts import advice_hooks_of
from .reasons import why, worse
from .texts import TEXTS

WIDTH = 100
"""Width of sentences, in characters."""
NOTHING = "—"


def position_lines(setup: Setup, table: Any, language: str) -> list[str]:
    """Returns the lines on a position as its seat to act sees it."""
    (head, turn), *lines = advice_hooks_of(setup.game).describe(setup, table, language)
    return [f"{head} — {turn}", *(f"  {line}" for line in align(lines, left=(0, 1)))]


def advice_lines(setup: Setup, table: Any, advice: Advice, k: int, language: str) -> list[str]:
    """Returns a table of the moves of position ``k``: payoff, distance behind the best, and the relevant probabilities."""
    hooks, texts = advice_hooks_of(setup.game), TEXTS[language]
    order = advice.ranked(k)
    columns: list[list[str]] = [["", "", *(mark(advice, k, action, language) for action in order)]]
    columns.append(["", texts.move, *(hooks.named(table, action, language) for action in order)])
    columns.append(["", hooks.UNITS[language], *(value_text(advice, k, action, language) for action in order)])
    columns.append(["", texts.behind, *(behind_text(advice, k, action, language) for action in order)])
    for prospect, part, head in _prospects(setup, table, language):
        probabilities = advice.named(prospect.name, advice.mean[k])[order, part]
        columns.append([head, prospect.head[language], *(percent(probability) for probability in probabilities)])
    lines = align(list(zip(*columns, strict=True)), left=(0, 1))
    return lines if lines[0] else lines[1:]  # without part names the first row is empty


def _prospects(setup: Setup, table: Any, language: str) -> list[tuple[Prospect, int, str]]:
    """Returns the probabilities that have a column: first the ones without parts, then the ones at stake, part by part."""
    prospects = advice_hooks_of(setup.game).PROSPECTS
    single = [(prospect, 0, "") for prospect in prospects if prospect.parts is None]
    several = [(prospect, prospect.parts[language]) for prospect in prospects if prospect.parts is not None]
    at_stake = advice_hooks_of(setup.game).at_stake(setup, table)
    return single + [(prospect, part, parts[part]) for part in at_stake for prospect, parts in several]


def mark(advice: Advice, k: int, action: int, language: str) -> str:
    """Returns the mark of an action: the best one, one that may be as good, or none."""
    if action == advice.best[k]:
        return TEXTS[language].best_mark
    return "" if worse(advice, k)[action] else TEXTS[language].equal_mark


def value_text(advice: Advice, k: int, action: int, language: str) -> str:
    """Returns an action's payoff, with its interval."""
    return interval(float(advice.mean[k, action, 0]), float(advice.error[k, action, 0]), language)


def behind_text(advice: Advice, k: int, action: int, language: str) -> str:
    """Returns the distance of an action behind the best one, with its interval; a dash for the best one itself."""
    if action == advice.best[k]:
        return NOTHING
    return interval(-float(advice.behind[k, action, 0]), float(advice.behind_error[k, action, 0]), language)


def interval(mean: float, error: float, language: str) -> str:
    """Returns ``mean`` with the half-width of its 95 % interval, as in ``+1.2 ± 0.3``, from its standard ``error``."""
    return f"{signed(mean, language)} ± {signed(Z_95 * error, language).lstrip('+')}"


def reason_lines(setup: Setup, table: Any, advice: Advice, k: int, language: str) -> list[str]:
    """Returns why the best move is better than the second best, and than the best one that is significantly worse."""
    tried = [int(action) for action in np.flatnonzero(advice.deals[k]) if action != advice.best[k]]
    tried.sort(key=lambda action: float(advice.behind[k, action, 0]))
    significant = worse(advice, k)
    clearly = [action for action in tried if significant[action]]
    reasons = [why(setup, table, advice, k, other, language) for other in dict.fromkeys([*tried[:1], *clearly[:1]])]
    return [line for reason in reasons for line in wrapped(reason)]


def wrapped(text: str) -> list[str]:
    """Returns a sentence in lines, with the continuation lines indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def basis_lines(setup: Setup, advice: Advice, k: int, model: str, language: str) -> list[str]:
    """Returns how the numbers were obtained, in lines."""
    return wrapped(basis(setup, advice, k, model, language))


def basis(setup: Setup, advice: Advice, k: int, model: str, language: str) -> str:
    """Returns how the numbers were obtained, in a sentence."""
    unit = advice_hooks_of(setup.game).UNITS[language]
    deals = grouped(int(advice.deals[k].max()), language)
    return sentence(TEXTS[language].basis.format(unit=unit, deals=deals, model=model))
