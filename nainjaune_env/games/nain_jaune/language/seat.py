"""A decision in words for the seat that makes it, from its redacted table: the game's ``nainjaune_env.core.speech.SeatWords``.

Cards are kinds (N1.3): a suit stands only where it is a pot's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import cast

import numpy as np

from nainjaune_env.core.cards import DECK, RANKS, by_rank, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import sentence
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import PASS, is_pot_card, is_silent, pot_of, rank_of
from nainjaune_env.games.nain_jaune.belief.knowledge import Knowledge
from nainjaune_env.games.nain_jaune.language import LANGUAGES, language_of
from nainjaune_env.games.nain_jaune.language.wording import NUMBER, SUIT_SIGNS, Phrases, Words
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, SUIT_ORDER, Announce, Blocked, NainJauneRules, rules_of
from nainjaune_env.games.nain_jaune.state import NOBODY

DRAWN = "direction"
"""The knob that says how a table is drawn and changes no play."""


def first_number(setup: Setup) -> int:
    """Returns 1: the number of a plain card's move is its rank."""
    return 1


def rules(setup: Setup, language: str, *, long: bool) -> list[str]:
    """Returns the rules under these knobs: a summary, or all articles of RULES.md that matter at this table."""
    texts = language_of(language)
    return _articles(setup, language) if long else summary(setup, texts.phrases)


def summary(setup: Setup, phrases: Phrases) -> list[str]:
    """Returns the rules in short: what the knobs that are words say, and those that are set over the preset."""
    words = {knob.name for knob in fields(setup.rules) if knob.metadata["kind"] == "word"}
    shown = words - {DRAWN} | {*setup.knobs}
    if _explicit(setup) and rules_of(setup).unannounced:
        shown.add("unannounced")
    return [*phrases.rules, *(_knob(setup, phrases, name) for name in setup.rules.names() if name in shown)]


def _explicit(setup: Setup) -> bool:
    return rules_of(setup).announce == Announce.EXPLICIT


def _knob(setup: Setup, phrases: Phrases, name: str) -> str:
    value, texts = getattr(setup.rules, name), phrases.knobs[name]
    key = str(value).lower()
    return texts[key if key in texts else NUMBER].format(value=value)


def _articles(setup: Setup, language: str) -> list[str]:
    texts, knob = language_of(language), cast(NainJauneRules, setup.rules)
    words, say, numbers = texts.words, texts.seat, rules_of(setup)
    knobs = {name: _knob(setup, texts.phrases, name) for name in setup.rules.names()}
    dropped = {DRAWN, *(() if _explicit(setup) and numbers.unannounced else ("unannounced",))}
    dropped |= set() if numbers.limited else {"end_on_default"}
    dealt = numbers.hand_size * setup.players
    antes = [f"{words.sign(card)} {ante * numbers.stake}" for card, ante in zip(POT_CARDS, numbers.antes, strict=True) if ante]
    filled = {
        **knobs,
        **dict.fromkeys(dropped, ""),
        "lowest": words.rank_names[numbers.top_rank - knob.ranks],
        "top": words.rank_names[numbers.top_rank - 1],
        "suits": " ".join(SUIT_SIGNS["shdc"[suit]] for suit in SUIT_ORDER[: knob.suits]),
        "deck": words.counted(numbers.deck_size, words.cards),
        "pots": " · ".join(antes) or texts.advice.nothing,
        "players": setup.players,
        "hand": words.counted(numbers.hand_size, words.cards),
        "talon": words.counted(numbers.deck_size - dealt, words.cards),
        "proof": say.proofs[knob.decline],
        "above": say.above if numbers.blocked == Blocked.SKIP else "",
        "no_ante": say.no_ante if numbers.limited else "",
    }
    lines = (" ".join(article.format(**filled).split()) for article in say.articles)
    return [line for line in lines if line]


def describe(setup: Setup, table: Table, language: str) -> list[tuple[str, str]]:
    """Returns headings with texts: the turn, the hand, pots, the others' hand sizes, chips, cards played, proven voids."""
    say, words = LANGUAGES[language].advice, LANGUAGES[language].words
    me, required, numbers = int(table.seat), int(table.required_rank), rules_of(setup)
    seats = range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    rank = words.rank_names[required - 1]
    if required:
        declines = int(kernel.legal(table, numbers)) >> PASS & 1
        turn = sentence((say.may_decline if declines else say.follows).format(rank=rank))
    else:
        turn = say.leads
    head = say.table.format(preset=setup.preset, round=int(table.rounds), seat=me, players=setup.players)
    played = np.bitwise_or.reduce(table.played[: setup.players])
    names = dict(zip(RANKS, words.rank_names, strict=True))
    lacking = [
        f"{shorts[seat]} {words.without.format(rank=', '.join(names[rank] for rank in ranks))}"
        for seat, ranks in lacks(setup, table).items()
    ]
    return [
        (head, turn),
        (say.hand, kinds(int(table.hand[me]), words)),
        (say.pots, words.by_pot(table.pot)),
        (say.cards, " · ".join(f"{shorts[seat]} {int(table.cards[seat])}" for seat in seats if seat != me)),
        (say.chips, " · ".join(f"{shorts[seat]} {int(table.stack[seat])}".replace("-", "−") for seat in seats)),
        (say.played, kinds(int(played), words) or say.nothing),
        (say.lacks, " · ".join(lacking) or say.nothing),
    ]


def details(setup: Setup, table: Table, language: str) -> list[tuple[str, str]]:
    """Returns what :func:`describe` leaves out.

    That is who played which cards, took which pots, played last and dealt, who ended a turn, and who passed which ranks.
    """
    texts = LANGUAGES[language]
    words, say, nothing = texts.words, texts.seat, texts.advice.nothing
    seats = range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    played = [f"{shorts[seat]} {kinds(int(table.played[seat]), words)}" for seat in seats if table.played[seat]]
    takers = [
        f"{words.sign(card)} {shorts[int(who)]}" for card, who in zip(POT_CARDS, table.captor, strict=True) if who != NOBODY
    ]
    net = (f"{shorts[seat]} {int(table.stack[seat] - table.before[seat]):+d}".replace("-", "−") for seat in seats)
    passed = [f"{shorts[seat]} {rank_names(int(table.passed[seat]), words)}" for seat in seats if table.passed[seat]]
    had_turn = [shorts[seat] for seat in seats if int(table.turn_taken) >> seat & 1]
    return [
        (say.by_seat, " · ".join(played) or nothing),
        (say.taken, " · ".join(takers) or nothing),
        (say.last, shorts[int(table.last)] if played else nothing),
        (say.dealer, shorts[int(table.dealer)]),
        (say.had_turn, " · ".join(had_turn) or nothing),
        (say.passed, " · ".join(passed) or nothing),
        (say.net, " · ".join(net)),
    ]


def kinds(cards: int, words: Words) -> str:
    """Returns cards by rank, with a suit only for pot cards: ``3 3 5 7♦``."""
    texts = by_rank(DECK[card] for card in cards_in(cards))
    signs = (words.sign(card) for card in texts)
    return " ".join(sign if card in POT_CARDS else sign[:-1] for card, sign in zip(texts, signs, strict=True))


def rank_names(ranks: int, words: Words) -> str:
    """Returns a set of ranks by their names: ``8, 9, Jack``."""
    return ", ".join(name for rank, name in enumerate(words.rank_names) if ranks >> rank & 1)


def lacks(setup: Setup, table: Table) -> Mapping[int, Sequence[str]]:
    """Returns the ranks of unseen cards that other seats provably lack."""
    return Knowledge(setup, table).lacks()


def named(table: Table, action: int, language: str) -> str:
    """Returns an action in words: ``8``, ``7♦``, a pass."""
    wording = LANGUAGES[language]
    if action == PASS:
        return wording.advice.passes
    if not is_pot_card(action):
        return wording.words.sign(f"{RANKS[action]}s")[:-1]
    card = wording.words.sign(POT_CARDS[pot_of(action)])
    return wording.advice.silent.format(card=card) if is_silent(action) else card


def note(setup: Setup, table: Table, action: int, language: str) -> str:
    """Returns what follows from a move: the chips that a pot card takes, the lead after the highest rank."""
    words, phrases = LANGUAGES[language].words, LANGUAGES[language].phrases
    if action == PASS or is_silent(action):
        return ""
    notes = []
    if is_pot_card(action):
        notes.append(phrases.takes.format(chips=words.counted(int(table.pot[pot_of(action)]), words.chips)))
    if int(rank_of(rules_of(setup), action)) == rules_of(setup).top_rank and table.cards[table.seat] > 1:
        notes.append(phrases.again)
    return ", ".join(notes)


def heard(
    setup: Setup, opening: Table | None, plies: Iterable[tuple[int, int]], seat: int, language: str
) -> list[list[Utterance]]:
    """Returns each of ``plies``, seats and actions, as kinds of cards, which all seats see; the ``opening`` is not read."""
    say = LANGUAGES[language].seat
    return [[Utterance(who, say.passes if action == PASS else named(None, action, language))] for who, action in plies]
