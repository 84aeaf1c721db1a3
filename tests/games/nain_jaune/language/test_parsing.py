"""Cards and calls as people type them."""

from __future__ import annotations

import pytest

from nainjaune_env.games.nain_jaune.language.parsing import Typed, understand


@pytest.mark.parametrize(
    ("card", "texts"),
    [
        ((7, "d"), ["7d", "7D", "7♦", "7 ♦️", " 7 d ", "7 of diamonds", "seven of diamonds", "sept de carreau"]),
        ((7, "d"), ["nain jaune", "Le Nain Jaune !", "nain"]),
        ((10, None), ["10", "dix"]),
        ((10, "d"), ["10d"]),
        ((11, "c"), ["Jc", "V♣", "Valet de trèfle", "valet de trefle"]),
        ((11, None), ["valet", "11"]),
        ((12, None), ["Q", "d", "la dame"]),
        ((12, "s"), ["dame de pique"]),
        ((13, None), ["13", "r", "the King"]),
        ((13, "h"), ["roi de cœur", "Roi de coeur", "king of hearts", "k♥"]),
        ((1, None), ["as", "a", "ace", "1"]),
        ((1, "s"), ["l'as de pique"]),
        ((1, "c"), ["ac"]),
        ((2, "s"), ["2s"]),
    ],
)
def test_cards(card: tuple[int, str | None], texts: list[str]) -> None:
    assert [understand(text) for text in texts] == [Typed(rank=card[0], suit=card[1])] * len(texts)


@pytest.mark.parametrize(
    ("card", "texts"),
    [
        ((7, "d"), ["7d takes", "7♦ takes all!", "7d, qui prend !", "7d prend", "nain jaune qui prend"]),
        ((7, "d"), ["The nain jaune takes all!", "« Nain jaune qui prend ! »"]),
        ((12, None), ["Dame qui prend !"]),
        ((10, None), ["10 takes"]),
        ((11, "c"), ["valet de trèfle qui prend"]),
    ],
)
def test_n2_7_cards_with_the_words_that_take_a_pot(card: tuple[int, str | None], texts: list[str]) -> None:
    assert [understand(text) for text in texts] == [Typed(rank=card[0], suit=card[1], announced=True)] * len(texts)


@pytest.mark.parametrize("text", ["-", "0", "p", "pass", "Passe.", "je passe", "sans 8", "sans valet", "no queen", "stop"])
def test_n2_5_passes(text: str) -> None:
    assert understand(text) == Typed(passes=True)


@pytest.mark.parametrize("text", ["", "14", "00", "7x", "x", "7d8d", "77", "qui prend", "takes", "5-6", "pot", "d d d", "77d"])
def test_what_is_no_move(text: str) -> None:
    assert understand(text) is None
