"""Nain Jaune told to a person, and that person understood: in the words of both languages."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from nainjaune_env.core.cards import DECK, by_rank
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.speech import Utterance
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.actions import ACTIONS
from nainjaune_env.games.nain_jaune.language import LANGUAGES
from nainjaune_env.games.nain_jaune.language.speaking import Speaker
from nainjaune_env.games.nain_jaune.language.wording import NUMBER
from nainjaune_env.games.nain_jaune.records.replay import replay_round
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import PRESETS, NainJauneRules
from nainjaune_env.registry import make_setup
from tests.support.wordings import french

MINE = "Ac 2c 5s 5c 6h 7s 7d 8h 9h 10h 10d Jc Qs Kh"


def table(mine: str, *, players: int = 3, dealer: int = 2, **knobs: Any) -> tuple[Any, Any]:
    """The setup, and a round in which seat 0 leads and holds `mine` and the lowest other cards; the highest are the talon."""
    setup = make_setup(None, "tableau", players, **knobs)
    size = setup.kernel_rules.hand_size
    hand = [card.replace("10", "T") for card in mine.split()]
    rest = by_rank(card for card in DECK if card not in hand)
    hand += rest[: size - len(hand)]
    others = [card for card in rest if card not in hand]
    hands = [hand] + [others[k * size : (k + 1) * size] for k in range(players - 1)]
    return setup, setup_table(setup, hands, dealer=dealer)


def speaker(mine: str = MINE, language: str = "en", **knobs: Any) -> Speaker:
    setup, opening = table(mine, **knobs)
    return Speaker(setup, opening, 0, language)


def refused(told: Speaker, text: str) -> str:
    with pytest.raises(IllegalActionError) as error:
        told.parse(text)
    return str(error.value)


def named(told: Speaker, text: str) -> str:
    return ACTIONS[told.parse(text)]


# ---------------------------------------------------------------- what is typed


def test_n1_3_like_cards_are_one_choice() -> None:
    told = speaker()
    assert {named(told, text) for text in ("5", "5s", "5♣", "cinq", "five of spades")} == {"5"}
    assert told.echo(told.parse("5")) == "5♠ or 5♣"
    assert refused(told, "5d") == "You do not hold 5♦."


def test_a_rank_alone_where_it_says_too_little() -> None:
    told = speaker()
    assert refused(told, "7") == "You hold 7♠ and 7♦: say which."
    assert (named(told, "7s"), named(told, "7d"), named(told, "nain jaune")) == ("7", "7d", "7d")
    assert named(told, "valet") == "Jc"  # the only one held


def test_n2_3_the_lead_is_not_passed() -> None:
    assert refused(speaker(), "-") == "You have the lead, and must play a card."
    assert refused(speaker(language="fr"), "passe") == "Vous avez la main, et devez poser une carte."


@pytest.mark.parametrize(
    ("decline", "passes"), [("never", "You hold 6♥, and must play."), ("entry", "You hold 6♥, and must play."), ("always", None)]
)
def test_n2_4_who_may_pass(decline: str, passes: str | None) -> None:
    told = speaker(decline=decline)
    told.ply(told.parse("5"))
    assert refused(told, "9") == "You cannot play 9 now: the required rank is 6."
    assert refused(told, "9h") == "You cannot play 9♥ now: the required rank is 6."
    if passes is None:
        assert named(told, "no 6") == "-"
        assert told.menu(80) == ["Wanted: 6.", "  6  6♥", "  -  “no 6”  you pass"]
    else:
        assert refused(told, "pass") == passes
        assert told.menu(80) == ["Wanted: 6.", "  6  6♥"]


def test_n2_7_automatic_calls_are_welcome_and_change_nothing() -> None:
    told = speaker()
    assert named(told, "7d") == named(told, "7d takes") == "7d"
    assert told.echo(told.parse("7d")) == "7♦ “The nain jaune takes all!”"
    assert refused(told, "7s takes") == "7♠ takes nothing: only pot cards do."
    assert "   7d  7♦     takes its pot: 15 chips" in told.menu(30)


@pytest.mark.parametrize(("language", "words"), [("en", "takes"), ("fr", "qui prend")])
def test_n2_7_explicit_without_the_words_a_pot_card_is_played_silently(language: str, words: str) -> None:
    told = speaker(language=language, announce="explicit")
    assert (named(told, "7d"), named(told, f"7d {words}")) == ("7d~", "7d")
    assert (named(told, "nain jaune"), named(told, "nain jaune qui prend")) == ("7d~", "7d")
    assert (named(told, "11"), named(told, f"11 {words}")) == ("Jc~", "Jc")
    assert [told.typed(ACTIONS.index(name)) for name in ("7d", "7d~")] == [f"7d {words}", "7d"]


def test_n2_7_explicit_the_table_does_not_remind_of_the_words() -> None:
    """Neither the menu nor the question whether the move is meant: forgetting is part of the rule."""
    told = speaker(announce="explicit")
    assert "   7d  7♦     in its pot: 15 chips" in told.menu(30)
    assert sum("7♦" in line for line in told.menu(30)) == 1
    assert told.echo(told.parse("7d")) == "7♦"
    assert told.echo(told.parse("7d takes")) == "7♦ “The nain jaune takes all!”"


def test_n2_7_explicit_is_said_once_when_the_match_begins() -> None:
    reminder = "A pot card takes its pot only if its player says so. Played silently it takes nothing."
    assert speaker(announce="explicit").begun()[-1] == reminder
    assert reminder not in speaker().begun()
    assert reminder in speaker(announce="explicit").rules()
    assert speaker(announce="explicit").typing()[-1] == "To take a pot, type “7d takes”."
    assert not any("takes" in line for line in speaker().typing())
    assert "A silent play pays 1 times its pot into it." in speaker(announce="explicit", unannounced=1).rules()


def test_the_menu_takes_two_columns_where_it_is_long() -> None:
    wide, narrow = speaker().menu(80), speaker().menu(40)
    assert wide[0] == narrow[0] == "You have the lead: play any card."
    assert len(wide) == 1 + len(narrow) // 2
    assert max(map(len, wide)) <= 80
    assert narrow[-1] == "   Kh  K♥     takes its pot: 12 chips"
    assert [line.split()[0] for line in wide[1:]] == [line.split()[0] for line in narrow[1 : len(wide)]]


def test_french_menu() -> None:
    lines = speaker(language="fr").menu(40)
    assert lines[0] == french("Vous avez la main : posez une carte quelconque.")
    assert "    A  A♠ A♣" in lines
    assert french("   Vc  V♣     prend son pot : 6 jetons") in lines


# ---------------------------------------------------------------- what is told


def test_a_turn_is_told_in_the_calls_of_the_table() -> None:
    setup, opening = table("Kh Jh")
    told = Speaker(setup, opening, 0, "fr")
    assert told.begun() == [french("Manche 1 — donneur : place 2"), "La place 0 a la main. Chacun a payé 15 jetons aux pots."]
    assert told.ply(ACTIONS.index("Kh")) == [Utterance(0, french("R♥ « Roi qui prend ! » (+12) « Roi et je recommence ! »"))]
    assert told.ply(ACTIONS.index("J")) == [Utterance(0, "V♥")]
    assert told.ply(ACTIONS.index("-")) == [Utterance(0, "— sans dame")]
    assert told.ply(ACTIONS.index("-")) == [Utterance(1, "sans dame")]
    assert told.ply(ACTIONS.index("-")) == [
        Utterance(2, "sans dame"),
        Utterance(None, french("Personne ne pose de dame : la place 0 relance.")),
    ]


def test_n2_7_a_silent_play_is_told_with_what_it_costs() -> None:
    told = speaker(announce="explicit", unannounced=1)
    assert told.ply(told.parse("7d")) == [Utterance(0, "7♦ (unannounced, −15)")]


def test_the_cards_told_are_those_of_pictures_and_records() -> None:
    """Of several like cards the same one is put down, which depends on the table's generator alone."""
    setup, opening = table("5s 5h 5c 6s 6h 6c", decline="always")
    stop = ACTIONS.index("-")
    shown = set()
    for seed in range(8):
        opening["rng"] = seed
        told = Speaker(setup, opening, 0, "en")
        actions = [told.parse("5"), told.parse("6") if told.ply(told.parse("5")) else stop]
        told.ply(actions[1])
        told.ply(stop)
        assert replay_round(setup, opening, [*actions, stop]).moves == told.replay.moves
        shown.add(tuple(told.replay.moves))
    assert len(shown) > 2


def test_what_may_be_asked() -> None:
    told = speaker()
    assert told.about("hand") == told.about("HAND ")
    (hand,) = told.about("hand") or []
    assert hand.startswith("Your hand: A♠ A♣ 2♣ 5♠ 5♣")
    assert told.about("pots") == told.about("Pots") == ["Pots: 10♦ 3 · J♣ 6 · Q♠ 9 · K♥ 12 · 7♦ 15"]
    assert told.about("chips") == [f"seat {seat}: -15 chips, 15 cards" for seat in range(3)]
    assert told.about("jouées") == told.about("jouees") == ["No card has been played yet."]
    told.ply(told.parse("9"))
    assert told.about("played") == ["Played: 9♥"]
    assert told.about("weather") is None


def test_red_suits_are_red() -> None:
    assert speaker().paint("10♦ K♠") == "\x1b[31m10♦\x1b[0m K♠"
    assert speaker().paint("no card") == "no card"


# ---------------------------------------------------------------- the summary of the rules

OTHER = {
    "direction": "clockwise", "decline": "entry", "blocked": "skip", "payment": "points", "stranded": "none",
    "grand_opera": "first_turn", "announce": "explicit", "unannounced": 3, "stake": 3, "starting_stack": 97,
    "end_on_default": True, "max_rounds": 17, "ranks": 9, "suits": 3, "hand": 5,
}  # fmt: skip
"""For each knob a value that the preset `tableau` does not have."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("knob", NainJauneRules.names())
def test_every_knob_set_over_the_preset_shows_in_the_rules(knob: str, language: str) -> None:
    def rules(**knobs: Any) -> str:
        setup = make_setup("nain_jaune", "tableau", 3, **knobs)
        batch = Batch(setup, 1, seed=1)
        return Speaker(setup, batch.tables[0], 0, language).rules()

    smaller = {"hand": 5} if knob in ("ranks", "suits") else {}
    usual, changed = rules(**smaller), rules(**smaller, **{knob: OTHER[knob]})
    assert PRESETS["tableau"].rules.replace(**{knob: OTHER[knob]}) != PRESETS["tableau"].rules
    added = set(changed.split("\n")) - set(usual.split("\n"))
    assert added
    if not isinstance(OTHER[knob], str | bool):
        assert any(str(OTHER[knob]) in line for line in added)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_a_sentence_for_every_value_of_every_knob(language: str) -> None:
    texts = LANGUAGES[language].phrases.knobs
    assert tuple(texts) == NainJauneRules.names()
    for field in dataclasses.fields(NainJauneRules):
        about = field.metadata
        kinds = {"word": about["choices"], "flag": (True, False), "number": (NUMBER,)}[about["kind"]]
        values = [*kinds, *([None] if about["optional"] else [])]
        assert set(texts[field.name]) == {str(value).lower() for value in values}
