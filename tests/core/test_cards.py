"""The 52 cards as numbers, bits and text."""

from __future__ import annotations

import random

import pytest

from nainjaune_env.core.cards import DECK, RANKS, SUITS, by_rank, card_number, card_rank, card_set, cards_in


def test_text_and_number_are_each_others_inverse() -> None:
    assert len(DECK) == len(set(DECK)) == 52
    for number, text in enumerate(DECK):
        assert card_number(text) == number
        assert text == RANKS[card_rank(number) - 1] + SUITS[number // 13]


@pytest.mark.parametrize("text", ["", "7", "d7", "1s", "10s", "7D", "7d ", None, 7, ["7d"]])
def test_what_is_no_card_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is no card: expected a rank of A23456789TJQK and a suit of shdc, as in '7d'"):
        card_number(text)  # type: ignore[arg-type]


def test_a_set_and_its_cards() -> None:
    rng = random.Random(0)
    for _ in range(50):
        numbers = sorted(rng.sample(range(52), rng.randint(0, 52)))
        assert cards_in(card_set(numbers)) == numbers
    assert card_set(range(52)) == (1 << 52) - 1
    assert cards_in(0) == []


def test_by_rank_sorts_by_rank_then_suit() -> None:
    assert by_rank(["Kd", "As", "Th", "Ac", "9s"]) == ["As", "Ac", "9s", "Th", "Kd"]
    shuffled = list(DECK)
    random.Random(1).shuffle(shuffled)
    assert by_rank(shuffled) == [rank + suit for rank in RANKS for suit in SUITS]
