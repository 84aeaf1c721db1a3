"""What the kernel says that a round can cost, against amounts counted by hand from the rules."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_env.core.spec import Extent
from nainjaune_env.games.nain_jaune.bounds import Bounds, bounds_of
from nainjaune_env.games.nain_jaune.chance import extent
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.registry import make_setup

ANTES, POTS_OF_4 = (1, 2, 3, 4, 5), (4, 8, 12, 16, 20)
NOTHING = (0,) * 5


def bounds(preset: str, players: int = 4, **knobs: Any) -> Bounds:
    return bounds_of(rules_of(make_setup("nain_jaune", preset, players, **knobs)))


def test_djeco_pays_by_the_card_and_nothing_for_pot_cards() -> None:
    assert bounds("djeco") == Bounds(ANTES, POTS_OF_4, 1, NOTHING, NOTHING, False)


def test_points_and_pots_that_must_be_matched() -> None:
    assert bounds("classic") == Bounds(ANTES, POTS_OF_4, 10, NOTHING, POTS_OF_4, False)


def test_a_blocked_run_that_skips_a_rank_goes_on() -> None:
    assert bounds("skip").runs_go_on


@pytest.mark.parametrize(
    ("stranded", "due"), [("twice_pot", (8, 16, 24, 32, 40)), ("twice_ante", (2, 4, 6, 8, 10)), ("none", NOTHING)]
)
def test_stranded_cards(stranded: str, due: tuple[int, ...]) -> None:
    assert bounds("djeco", stranded=stranded).stranded == due


def test_silent_plays_cost_what_the_knob_says() -> None:
    automatic, explicit = (bounds("djeco", announce=announce, unannounced=2) for announce in ("automatic", "explicit"))
    assert automatic.silent == explicit.silent == (8, 16, 24, 32, 40)


def test_the_stake_multiplies_antes_and_not_the_payment() -> None:
    assert bounds("classic", stake=3)[:3] == ((3, 6, 9, 12, 15), (12, 24, 36, 48, 60), 10)


def test_a_pot_whose_card_is_not_in_the_deck_costs_nothing() -> None:
    short = bounds("djeco", 2, ranks=4, suits=1, hand=2, stranded="twice_ante")
    assert (short.antes, short.stranded) == ((1, 0, 0, 0, 5), (2, 0, 0, 0, 10))


@pytest.mark.parametrize(
    ("preset", "knobs", "expected"),
    [
        # 45 plays, each but the last followed by a circle; 15 in antes and 12 cards left; three hands of 12 and the pots
        ("djeco", {}, Extent(plies=45 + 4 * 44, draws=49, least=-15 - 12, most=3 * 12 - 15 + 60)),
        # nobody loses more than their stack
        ("djeco", {"starting_stack": 16}, Extent(plies=45 + 4 * 44, draws=49, least=-16, most=48)),
        ("classic", {}, Extent(plies=45 + 4 * 44, draws=49, least=-15 - 120 - 60, most=360 - 15 + 60)),
    ],
)
def test_extents(preset: str, knobs: dict[str, Any], expected: Extent) -> None:
    assert extent(make_setup("nain_jaune", preset, 4, **knobs))._replace(openings=1) == expected
