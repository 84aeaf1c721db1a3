"""Short decks (N1.7): what is in them, who antes, what is refused. The twin plays them in ``test_equivalence``."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_env.core.cards import DECK, cards_in
from nainjaune_env.core.errors import DealError, RulesError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune import SPEC
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table


def test_n1_7_a_short_deck_is_cut_from_the_full_one() -> None:
    def cards(**knobs: int) -> list[str]:
        rules: Any = SPEC.setup("skip", 2, hand=1, **knobs).kernel_rules
        assert rules.deck_size == rules.deck.bit_count()
        return [DECK[number] for number in cards_in(rules.deck)]

    assert cards(ranks=5, suits=2) == ["6d", "7d", "8d", "9d", "Td", "6c", "7c", "8c", "9c", "Tc"]
    assert cards(ranks=2, suits=3) == ["9s", "Ts", "9d", "Td", "9c", "Tc"]
    assert cards(ranks=11, suits=1) == [f"{rank}d" for rank in "A23456789TJ"]
    assert cards() == list(DECK)


@pytest.mark.parametrize(
    ("knobs", "antes"),
    [
        ({"ranks": 3}, (1, 0, 0, 0, 0)),
        ({"ranks": 4, "suits": 1}, (1, 0, 0, 0, 5)),
        ({"ranks": 11, "suits": 2}, (1, 2, 0, 0, 5)),
        ({"suits": 3}, (1, 2, 3, 0, 5)),
        ({}, (1, 2, 3, 4, 5)),
    ],
)
def test_n1_7_nobody_antes_where_the_pot_card_is_not_in_the_deck(knobs: dict[str, int], antes: tuple[int, ...]) -> None:
    setup = SPEC.setup("djeco", 2, hand=2, stake=2, starting_stack=2 * sum(antes), **knobs)
    table = Batch(setup, 1, skip_forced=False).tables[0]
    assert tuple(table["pot"]) == tuple(4 * ante for ante in antes)
    with pytest.raises(RulesError, match=f"must cover one round's antes, {2 * sum(antes)} chips"):
        SPEC.setup("djeco", 2, hand=2, stake=2, starting_stack=2 * sum(antes) - 1, **knobs)


def test_n1_7_a_deck_that_does_not_go_round_is_refused() -> None:
    with pytest.raises(RulesError, match=r"The deck has 10 cards .* 2 hands of 22 .* take 44; at most 5 each would do"):
        SPEC.setup("djeco", 2, ranks=5, suits=2)
    with pytest.raises(RulesError, match="at most 6 each would do"):
        SPEC.setup("skip", 8, hand=7)
    setup = SPEC.setup("djeco", 2, ranks=5, suits=2, hand=5)
    with pytest.raises(DealError, match=r"not from this deck .*: 5d, Ks is not in it"):
        setup_table(setup, [["5d", "6d", "7d", "8d", "9d"], ["Td", "6c", "7c", "8c", "Ks"]], dealer=0)
