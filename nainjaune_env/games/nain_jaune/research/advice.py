"""What an adviser needs: prospects, kinds of decisions, words.

The module as a whole is the game's ``nainjaune_env.analysis.advice_hook.AdviceHooks``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import Forecast, Kind, Ply, Prospect, percent, signed
from nainjaune_env.core.cards import card_number
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, PASS, POT
from nainjaune_env.games.nain_jaune.language import LANGUAGES, positions
from nainjaune_env.games.nain_jaune.language.positions import FIELDS, read
from nainjaune_env.games.nain_jaune.language.seat import describe, lacks, named
from nainjaune_env.games.nain_jaune.language.wording import paint
from nainjaune_env.games.nain_jaune.records.replay import Replay, open_recorded
from nainjaune_env.games.nain_jaune.research.statistics import CAPTURED, RECEIVED, STRANDED
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.state import POTS

__all__ = [
    "ACCOUNT", "FIELDS", "KINDS", "PROSPECTS", "UNITS",
    "at_stake", "describe", "kind", "lacks", "named", "paint", "plies", "read", "reason", "write",
]  # fmt: skip

_POT_SIGNS = {language: tuple(wording.words.sign(card) for card in POT_CARDS) for language, wording in LANGUAGES.items()}


def _prospect(name: str) -> Prospect:
    titles = {language: wording.advice.prospects[name] for language, wording in LANGUAGES.items()}
    return Prospect(name, titles) if name == "out" else Prospect(name, titles, _POT_SIGNS)


PROSPECTS: tuple[Prospect, ...] = tuple(map(_prospect, LANGUAGES["en"].advice.prospects))
ACCOUNT = "chips"
UNITS: Mapping[str, str] = {language: wording.words.chips[1] for language, wording in LANGUAGES.items()}

MAX_PROBABILITIES = 2
"""The most shown for one source of chips."""

LEAD, DECLINE, POT_OR_PLAIN, ANNOUNCE = range(4)
KINDS: tuple[Kind, ...] = tuple(
    Kind(name, {language: wording.advice.kinds[name] for language, wording in LANGUAGES.items()})
    for name in LANGUAGES["en"].advice.kinds
)


def kind(table: Table, rules: Any, legal_bits: int) -> int:
    """Returns the kind of a decision: a lead, to play or decline, a pot card or a plain one (N2.4), to announce or not (N2.7)."""
    if table.required_rank == 0:
        return LEAD
    if legal_bits >> PASS & 1:
        return DECLINE
    return POT_OR_PLAIN if legal_bits & ((1 << POT) - 1) else ANNOUNCE


def at_stake(setup: Setup, table: Table) -> list[int]:
    """Returns the pots whose card the seat to act holds."""
    hand = int(table.hand[table.seat])
    return [pot for pot in range(POTS) if hand >> card_number(POT_CARDS[pot]) & 1]


def reason(source: int, forecast: Forecast, language: str) -> str:
    """Returns the chips from a source, with the probabilities behind them where these differ beyond noise."""
    say = LANGUAGES[language].advice
    text = say.sources[source].format(chips=signed(forecast.chips, language))
    behind = {RECEIVED: ("out", say.out), CAPTURED: ("captured", say.captured), STRANDED: ("stranded", say.stranded)}.get(source)
    if behind is None:
        return text
    name, template = behind
    better, other = forecast.better[name], forecast.other[name]
    gains = (better - other) * np.sign(forecast.chips) * (-1 if source == STRANDED else 1)
    parts = [part for part in np.argsort(-gains) if forecast.clear[name][part] and gains[part] > gains.max() / 4 > 0]
    signs = _POT_SIGNS[language]
    shown = [
        template.format(card=signs[part], better=percent(better[part]), other=percent(other[part]))
        for part in parts[:MAX_PROBABILITIES]
        if percent(better[part]) != percent(other[part])
    ]
    return f"{text} ({', '.join(shown)})" if shown else text


def plies(setup: Setup, body: Mapping[str, Any]) -> Iterator[Ply]:
    """Yields the decisions of a verified record, in order."""
    for part, written in enumerate(body["rounds"], 1):
        for number, replay, action in _moves(setup, written, part):
            if replay.needs_decision(replay.legal_bits()):
                yield Ply(part, number, np.array([replay.table])[0], action)


def write(setup: Setup, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
    """Returns the fields for :func:`read` of the position before a move of a verified record."""
    written = body["rounds"][part - 1]
    replay = next(replay for move, replay, _ in _moves(setup, written, part) if move == number)
    return positions.write(setup, replay.table, replay.hands[replay.seat], written["moves"][: number - 1])


def _moves(setup: Setup, written: Mapping[str, Any], part: int) -> Iterator[tuple[int, Replay, int]]:
    """Yields each move of a recorded round: its number, the replay before it, which then plays on, and its action."""
    replay = open_recorded(setup, written, part)
    for number, (_, move) in enumerate(written["moves"], 1):
        yield number, replay, ACTION_OF[move]
        replay.play(move)
