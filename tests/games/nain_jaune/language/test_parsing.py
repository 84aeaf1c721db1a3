"""Cards and calls as people type them."""

from __future__ import annotations

import pytest

from nainjaune_env.games.nain_jaune.language.parsing import Typed, understand


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("7d", (7, "d")),
        ("7D", (7, "d")),
        ("7♦", (7, "d")),
        ("7 ♦️", (7, "d")),
        (" 7 d ", (7, "d")),
        ("7 of diamonds", (7, "d")),
        ("seven of diamonds", (7, "d")),
        ("sept de carreau", (7, "d")),
        ("nain jaune", (7, "d")),
        ("Le Nain Jaune !", (7, "d")),
        ("nain", (7, "d")),
        ("10", (10, None)),
        ("10d", (10, "d")),
        ("dix", (10, None)),
        ("Jc", (11, "c")),
        ("V♣", (11, "c")),
        ("valet", (11, None)),
        ("Valet de trèfle", (11, "c")),
        ("valet de trefle", (11, "c")),
        ("11", (11, None)),
        ("Q", (12, None)),
        ("d", (12, None)),
        ("dame de pique", (12, "s")),
        ("la dame", (12, None)),
        ("13", (13, None)),
        ("r", (13, None)),
        ("roi de cœur", (13, "h")),
        ("Roi de coeur", (13, "h")),
        ("king of hearts", (13, "h")),
        ("the King", (13, None)),
        ("k♥", (13, "h")),
        ("as", (1, None)),
        ("l'as de pique", (1, "s")),
        ("a", (1, None)),
        ("ac", (1, "c")),
        ("ace", (1, None)),
        ("1", (1, None)),
        ("2s", (2, "s")),
    ],
)
def test_cards(text: str, card: tuple[int, str | None]) -> None:
    assert understand(text) == Typed(rank=card[0], suit=card[1])


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("7d takes", (7, "d")),
        ("7♦ takes all!", (7, "d")),
        ("7d, qui prend !", (7, "d")),
        ("7d prend", (7, "d")),
        ("nain jaune qui prend", (7, "d")),
        ("The nain jaune takes all!", (7, "d")),
        ("« Nain jaune qui prend ! »", (7, "d")),
        ("Dame qui prend !", (12, None)),
        ("10 takes", (10, None)),
        ("valet de trèfle qui prend", (11, "c")),
    ],
)
def test_n2_7_cards_with_the_words_that_take_a_pot(text: str, card: tuple[int, str | None]) -> None:
    assert understand(text) == Typed(rank=card[0], suit=card[1], announced=True)


@pytest.mark.parametrize("text", ["-", "0", "p", "pass", "Passe.", "je passe", "sans 8", "sans valet", "no queen", "stop"])
def test_n2_5_passes(text: str) -> None:
    assert understand(text) == Typed(passes=True)


@pytest.mark.parametrize("text", ["", "14", "00", "7x", "x", "7d8d", "77", "qui prend", "takes", "5-6", "pot", "d d d", "77d"])
def test_what_is_no_move(text: str) -> None:
    assert understand(text) is None
