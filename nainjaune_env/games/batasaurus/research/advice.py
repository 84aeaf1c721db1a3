"""Advice: what is forecast, the kinds of decisions, and a position in words. Positions are read from records alone.

The game's ``nainjaune_env.analysis.advice_hook.AdviceHooks``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import BEST, Forecast, Kind, Ply, Prospect, percent, signed
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.language import LANGUAGES
from nainjaune_env.games.batasaurus.language.seat import describe, named, turn
from nainjaune_env.games.batasaurus.records.replay import open_record
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.view.text import coloured

__all__ = [
    "ACCOUNT", "FIELDS", "KINDS", "PROSPECTS", "UNITS",
    "at_stake", "describe", "kind", "lacks", "named", "paint", "plies", "read", "reason", "write",
]  # fmt: skip

FIELDS: Mapping[str, str] = {}
PROSPECTS: tuple[Prospect, ...] = (Prospect(BEST, {name: texts.advice.winning for name, texts in LANGUAGES.items()}),)
ACCOUNT = "cards"
UNITS: Mapping[str, str] = {name: texts.advice.unit for name, texts in LANGUAGES.items()}

KINDS: tuple[Kind, ...] = tuple(
    Kind(kind, {name: texts.advice.kinds[number] for name, texts in LANGUAGES.items()})
    for number, kind in enumerate(("lead", "follow", "battle"))
)


def kind(table: Table, rules: KernelRules, legal_bits: int) -> int:
    """Returns whether the decision is a lead, a card that follows (B2.1) or a battle's card (B2.3)."""
    return turn(table)


def at_stake(setup: Setup, table: Table) -> list[int]:
    """Returns an empty list: no prospect has parts."""
    return []


def lacks(setup: Setup, table: Table) -> Mapping[int, Sequence[str]]:
    """Returns an empty mapping: a seat lacks the values that it has shown, and :func:`describe` lists the others."""
    return {}


def reason(source: int, forecast: Forecast, language: str) -> str:
    """Returns the difference in cards and, for tricks won, in the chance that nobody gets more, if it is significant."""
    say = LANGUAGES[language].advice
    text = say.sources[source].format(cards=signed(forecast.chips, language))
    better, other = float(forecast.better[BEST][0]), float(forecast.other[BEST][0])
    significant = forecast.clear[BEST][0] and (better - other) * forecast.chips > 0 and percent(better) != percent(other)
    return f"{text} ({say.best.format(better=percent(better), other=percent(other))})" if significant and source == 0 else text


def paint(text: str) -> str:
    """Returns ``text`` with dinosaurs coloured by strength."""
    for texts in LANGUAGES.values():
        text = coloured(text, texts.words)
    return text


def plies(setup: Setup, body: Mapping[str, Any]) -> Iterator[Ply]:
    """Yields the decisions of a verified record, in order, without the memorising steps (B4.2)."""
    replay = open_record(setup, body)
    replay.memorise()
    for number, (_, slot) in enumerate(body["moves"], 1):
        if replay.needs_decision(replay.legal_bits()):
            yield Ply(1, number, np.array([replay.table])[0], slot)
        replay.step(slot)


def read(setup: Setup, fields: Mapping[str, str]) -> Any:
    """Raises :class:`DealError`: positions of this game have no written form."""
    raise DealError(f"A position of {setup.game.title} cannot be written: give a record, a match, a round and a move.")


def write(setup: Setup, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
    """Returns an empty mapping: positions of this game have no written form."""
    return {}
