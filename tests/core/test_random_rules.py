"""Setups with random knobs: distinct, as the generator says, and none beyond what the rules allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nainjaune_env import get_game, make_setup
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.random_rules import knob_samples, random_setups

GAMES = ("nain_jaune", "batasaurus", "signal_lamps")


@pytest.mark.parametrize("name", GAMES)
def test_every_sample_is_a_value_that_the_knob_takes_and_its_default_is_one(name: str) -> None:
    game = get_game(name)
    rules = game.presets[game.default_preset].rules
    for knob, values in knob_samples(game).items():
        assert getattr(type(rules)(), knob) in values
        for value in values:
            assert getattr(rules.replace(**{knob: value}), knob) == value


def test_setups_differ_and_change_as_many_knobs_as_asked() -> None:
    bases = [make_setup("nain_jaune", "djeco", 3), make_setup("nain_jaune", "classic", 5, stake=2)]
    setups = [*itertools.islice(random_setups(bases, np.random.default_rng(1), knobs=[2, 3]), 200)]
    assert all(setup not in setups[:place] for place, setup in enumerate(setups))
    changed = [
        sum(getattr(setup.rules, knob) != getattr(base.rules, knob) for knob in setup.rules.names())
        for setup in setups
        for base in bases
        if base.preset == setup.preset
    ]
    assert set(changed) == {2, 3}
    assert {(setup.preset, setup.players) for setup in setups} == {("djeco", 3), ("classic", 5)}
    for knob in ("decline", "payment", "announce", "suits"):
        assert {getattr(setup.rules, knob) for setup in setups} == set(knob_samples(setups[0].game)[knob])


def test_all_knobs_take_the_values_that_are_given_the_usual_ones_too() -> None:
    values = {"stake": (1, 2), "decline": ("never", "entry"), "payment": ("cards", "points")}
    setups = [*itertools.islice(random_setups([make_setup()], np.random.default_rng(1), knobs=None, values=values), 8)]
    drawn = {(setup.rules.stake, setup.rules.decline, setup.rules.payment) for setup in setups}  # type: ignore[attr-defined]
    assert len(drawn) == 8
    assert all(setup.rules.replace(stake=1, decline="entry", payment="cards") == make_setup().rules for setup in setups)


def test_the_same_generator_draws_the_same_setups() -> None:
    first, second = ([*itertools.islice(random_setups([make_setup()], np.random.default_rng(7)), 20)] for _ in range(2))
    assert first == second


def test_a_game_with_few_knobs_ends_with_a_sentence() -> None:
    setups = random_setups([make_setup("signal_lamps")], np.random.default_rng(0))
    with pytest.raises(RulesError, match=r"^After 5 setups with random knobs, 1000 draws made no other one\.$"):
        list(setups)
