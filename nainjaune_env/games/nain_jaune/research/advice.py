"""What an adviser needs of this game: prospects, kinds of decisions, words.

The module as a whole is the game's ``nainjaune_env.analysis.advice_hook.AdviceHooks``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import Forecast, Kind, Ply, Prospect, percent, signed
from nainjaune_env.core.cards import DECK, RANKS, by_rank, card_number, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.belief.knowledge import Knowledge
from nainjaune_env.games.nain_jaune.kernel import PASS, POT, SILENT
from nainjaune_env.games.nain_jaune.language import positions
from nainjaune_env.games.nain_jaune.language.advice_words import OUTLOOK_WORDS
from nainjaune_env.games.nain_jaune.language.positions import FIELDS, read
from nainjaune_env.games.nain_jaune.language.words import WORDS, Words, card_sign, paint
from nainjaune_env.games.nain_jaune.records.real_cards import ACTION_OF
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.research.statistics import CAPTURED, RECEIVED, STRANDED
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.state import POTS

__all__ = [
    "ACCOUNT", "FIELDS", "KINDS", "PROSPECTS", "UNITS",
    "at_stake", "describe", "kind", "lacks", "named", "paint", "plies", "read", "reason", "write",
]  # fmt: skip

_POT_SIGNS = {language: tuple(card_sign(card, words) for card in POT_CARDS) for language, words in WORDS.items()}

PROSPECTS: tuple[Prospect, ...] = (
    Prospect("out", {"en": "out first", "fr": "sorti 1er"}),
    Prospect("captured", {"en": "takes", "fr": "prend"}, _POT_SIGNS),
    Prospect("stranded", {"en": "left", "fr": "reste"}, _POT_SIGNS),
)
ACCOUNT = "chips"
UNITS: Mapping[str, str] = {"en": "chips", "fr": "jetons"}

MOST_CHANCES = 2
"""Told of one source."""

LEAD, DECLINE, POT_OR_PLAIN, ANNOUNCE = range(4)
KINDS: tuple[Kind, ...] = (
    Kind("lead", {"en": "what to lead", "fr": "quelle carte entamer"}),
    Kind("decline", {"en": "to play or to decline", "fr": "jouer ou passer"}),
    Kind("pot_or_plain", {"en": "pot card or plain one", "fr": "carte de pot ou carte simple"}),
    Kind("announce", {"en": "to announce or not", "fr": "annoncer ou non"}),
)


def kind(table: Any, rules: Any, moves: int) -> int:
    """A lead (N2.3); else where one may refuse (N2.4, N2.5), a pot's card beside a plain one (N2.4), or silence alone (N2.7)."""
    if table.need == 0:
        return LEAD
    if moves >> PASS & 1:
        return DECLINE
    return POT_OR_PLAIN if moves & ((1 << POT) - 1) else ANNOUNCE


def at_stake(setup: Setup, table: Any) -> list[int]:
    """The pots whose card the seat holds."""
    hand = int(table.hand[table.seat])
    return [pot for pot in range(POTS) if hand >> card_number(POT_CARDS[pot]) & 1]


def describe(setup: Setup, table: Any, language: str) -> list[tuple[str, str]]:
    """Whose turn it is; his hand; pots; how many cards the others hold; chips; the cards played; what is proven of the others."""
    say, words = OUTLOOK_WORDS[language], WORDS[language]
    me, need, rules = int(table.seat), int(table.need), setup.kernel_rules
    seats = range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    rank = words.rank_names[need - 1]
    if need:
        declines = int(kernel.legal(table, rules)) >> PASS & 1
        turn = (say.may_decline if declines else say.follows).format(rank=rank)
        turn = turn[0].upper() + turn[1:]
    else:
        turn = say.leads
    head = say.table.format(preset=setup.preset, round=int(table.rounds), seat=me, players=setup.players)
    played = np.bitwise_or.reduce(table.played[: setup.players])
    pots = " · ".join(f"{sign} {int(chips)}" for sign, chips in zip(_POT_SIGNS[language], table.pot, strict=True))
    names = dict(zip(RANKS, words.rank_names, strict=True))
    lacking = [
        f"{shorts[seat]} {words.without.format(rank=', '.join(names[rank] for rank in ranks))}"
        for seat, ranks in lacks(setup, table).items()
    ]
    return [
        (head, turn),
        (say.hand, _kinds(int(table.hand[me]), words)),
        (say.pots, pots),
        (say.cards, " · ".join(f"{shorts[seat]} {int(table.cards[seat])}" for seat in seats if seat != me)),
        (say.chips, " · ".join(f"{shorts[seat]} {int(table.stack[seat])}".replace("-", "−") for seat in seats)),
        (say.played, _kinds(int(played), words) or say.nothing),
        (say.lacks, " · ".join(lacking) or say.nothing),
    ]


def _kinds(cards: int, words: Words) -> str:
    """Cards by rank, without the suit where it does not matter: ``3 3 5 7♦``."""
    texts = by_rank(DECK[card] for card in cards_in(cards))
    signs = (card_sign(card, words) for card in texts)
    return " ".join(sign if card in POT_CARDS else sign[:-1] for card, sign in zip(texts, signs, strict=True))


def lacks(setup: Setup, table: Any) -> Mapping[int, Sequence[str]]:
    """The ranks that other seats cannot hold, of those that are still out."""
    return Knowledge(setup, table).lacks()


def named(table: Any, action: int, language: str) -> str:
    """``8``, ``7♦``, a pass."""
    words = WORDS[language]
    if action == PASS:
        return OUTLOOK_WORDS[language].passes
    if action < POT:
        return card_sign(f"{RANKS[action]}s", words)[:-1]
    if action < PASS:
        return _POT_SIGNS[language][action - POT]
    return OUTLOOK_WORDS[language].silent.format(card=_POT_SIGNS[language][action - SILENT])


def reason(source: int, forecast: Forecast, language: str) -> str:
    """The chips, and of going out, of pots and of stranded cards the chances, where these differ beyond noise."""
    say = OUTLOOK_WORDS[language]
    text = say.sources[source].format(chips=signed(forecast.chips, language))
    behind = {RECEIVED: ("out", say.out), CAPTURED: ("captured", say.captured), STRANDED: ("stranded", say.stranded)}.get(source)
    if behind is None:
        return text
    name, chance = behind
    better, other = forecast.better[name], forecast.other[name]
    gains = (better - other) * np.sign(forecast.chips) * (-1 if source == STRANDED else 1)
    parts = [part for part in np.argsort(-gains) if forecast.clear[name][part] and gains[part] > gains.max() / 4 > 0]
    signs = _POT_SIGNS[language]
    told = [
        chance.format(card=signs[part], better=percent(better[part]), other=percent(other[part]))
        for part in parts[:MOST_CHANCES]
        if percent(better[part]) != percent(other[part])
    ]
    return f"{text} ({', '.join(told)})" if told else text


def plies(setup: Setup, body: Mapping[str, Any]) -> Iterator[Ply]:
    """The decisions of a verified record, in order."""
    for part, written in enumerate(body["rounds"], 1):
        for number, replay, action in _moves(setup, written, part):
            if replay.unasked(replay.legal()) is None:
                yield Ply(part, number, np.array([replay.table])[0], action)


def write(setup: Setup, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
    """The position before a move of a verified record, as :func:`read` takes it."""
    written = body["rounds"][part - 1]
    replay = next(replay for move, replay, _ in _moves(setup, written, part) if move == number)
    return positions.write(setup, replay.table, replay.cards.hand(replay.seat), written["moves"][: number - 1])


def _moves(setup: Setup, written: Mapping[str, Any], part: int) -> Iterator[tuple[int, Replay, int]]:
    """Each move of a round of a record by its number, with the table before it, which is played on, and its action."""
    start = {name: written[name] for name in ("dealer", "stacks", "pots")}
    replay = Replay(setup, setup_table(setup, written["hands"], rounds_before=part - 1, **start))
    for number, (_, move) in enumerate(written["moves"], 1):
        yield number, replay, ACTION_OF[move]
        replay.play(move)
