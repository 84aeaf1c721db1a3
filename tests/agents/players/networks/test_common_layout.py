"""The common layout: every byte of every setup in its place, seats and rules said, and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.networks.common_layout import (
    CommonView,
    common_layout,
    number_code,
    places,
    random_payoff_scale,
    rule_features,
    seat_counts,
)
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.rules import NainJauneRules
from nainjaune_env.registry import game_names, get_game, make_setup
from tests.support.contract import all_setups, any_setup

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def observations(setup: Setup, seed: int = 0) -> np.ndarray[Any, Any]:
    """What seats see in the middle of some rounds."""
    batch, chance = Batch(setup, 40, seed=seed), streams(seed, 40, stream=1)
    for _ in range(5):
        batch.step(batch.sample(chance))
    return batch.observation.copy()


@pytest.mark.parametrize("setup", all_setups())
def test_every_slot_says_the_same_and_absent_seats_nothing(setup: Setup) -> None:
    """Slot by slot, by name; along an axis that is longer, the rest is what a network sees as 0."""
    view, seen = CommonView(setup), observations(setup)
    common = view(seen)
    assert (common.shape, common.dtype) == ((len(seen), view.layout.size), np.uint8)
    for slot in setup.layout:
        whole = view.layout.view(common, slot.name)
        there = tuple(slice(size) for size in slot.shape)
        assert np.array_equal(whole[(slice(None), *there)], setup.layout.view(seen, slot.name))
        absent = np.ones(whole.shape[1:], bool)
        absent[there] = False
        assert (whole[:, absent] == slot.zero).all()
    named = {slot.name for slot in setup.layout} | {"seats"} | {slot.name for slot in rule_features(setup.game)}
    assert named == {slot.name for slot in view.layout}


@pytest.mark.parametrize("setup", all_setups())
def test_what_a_critic_sees_is_in_its_place_too(setup: Setup) -> None:
    batch = Batch(setup, 20, seed=2)
    view, own = CommonView(setup, omniscient=True), setup.layout.omniscient(setup.players)
    seen = batch.omniscient()
    common = view(seen)
    plain = CommonView(setup)
    assert np.array_equal(common[:, : plain.layout.size], plain(batch.observation))
    for slot in own:
        there = (slice(None), *(slice(size) for size in slot.shape))
        assert np.array_equal(view.layout.view(common, slot.name)[there], own.view(seen, slot.name))
    private = [slot.name for slot in setup.layout if slot.private]
    for rel in range(setup.players, seat_counts(setup.game)[-1]):
        for name in private:
            assert (view.layout.view(common, f"{name}_of_{rel}") == setup.layout[name].zero).all()


def rules_told(setup: Setup) -> dict[str, Any]:
    """The knobs, read back from the bytes by the names of the slots."""
    view = CommonView(setup)
    known: dict[str, Any] = {}
    for slot in rule_features(setup.game):
        value = int(view.layout.view(view.rest, slot.name)[0])
        knob, equals, choice = slot.name.removeprefix("rules.").partition("=")
        if equals and value:
            assert knob not in known, f"{knob} is two things"
            known[knob] = None if choice == "None" else choice
        elif not equals and known.get(knob, 0) is not None:
            known[knob] = value
    return known


@some
@given(setup=any_setup())
def test_the_rules_can_be_read_back(setup: Setup) -> None:
    """All but what does not reach play; numbers below 64 exactly."""
    known, knobs = rules_told(setup), dataclasses.asdict(setup.rules)
    assert knobs.keys() - known.keys() <= {"direction"}
    for knob, value in known.items():
        assert value == knobs[knob]
    view = CommonView(setup)
    seats = view.layout.view(view.rest, "seats")
    assert [seat_counts(setup.game)[int(k)] for k in np.flatnonzero(seats)] == [setup.players]


def test_what_is_only_for_the_eye_is_left_out() -> None:
    """One knob says how a table is drawn: two setups that differ in nothing else look alike."""
    one, two = (make_setup("nain_jaune", "djeco", 4, direction=way) for way in ("clockwise", "counterclockwise"))
    assert np.array_equal(CommonView(one).rest, CommonView(two).rest)
    assert {"direction"} == set(NainJauneRules.names()) - rules_told(one).keys()


@some
@given(number=st.integers(0, 1_000_000))
def test_large_numbers_are_coded_within_a_step(number: int) -> None:
    code = number_code(number)
    if number < 64:
        assert code == number
    elif number < 4032:
        octaves = code // 32 - 1
        least = (code - 32 * octaves) << octaves
        assert least <= number < least * (1 + 1 / 32)
    else:
        assert code == 255
    assert number_code(number + 1) >= code


def test_one_layout_a_game() -> None:
    prints = {common_layout(get_game(name)).fingerprint for name in game_names()}
    assert len(prints) == len(game_names())
    setups = [param.values[0] for param in all_setups()]
    assert {CommonView(setup).layout.fingerprint for setup in setups} == prints
    assert prints.isdisjoint(setup.layout.fingerprint for setup in setups)


def test_a_new_choice_makes_another_layout() -> None:
    """Or a network would take one rule for another."""

    field = NainJauneRules.__dataclass_fields__["payment"]
    turned = dataclasses.field(default="cards", metadata={**field.metadata, "choices": ("points", "cards")})
    other = dataclasses.make_dataclass("Other", [("payment", str, turned)], bases=(NainJauneRules,), frozen=True)
    game = get_game("nain_jaune")
    sheet = dataclasses.replace(game.presets["djeco"], rules=other())
    assert common_layout(_with(game, sheet)).fingerprint != common_layout(game).fingerprint


def _with(game: GameSpec, sheet: Any) -> GameSpec:
    return dataclasses.replace(game, presets={**game.presets, "djeco": sheet})


@pytest.mark.parametrize(
    "other", [{"shape": (2,)}, {"shape": (3, 1)}, {"high": 2}, {"zero": 1}, {"scale": 2.0}, {"private": True}], ids=str
)
def test_a_slot_that_means_another_thing_is_no_part(other: dict[str, Any]) -> None:
    slot = Feature("a", (3,), "")
    part, whole = Layout((slot,)), Layout((dataclasses.replace(slot, **other),))
    with pytest.raises(ValueError, match=r"feature 'a' is .* no part of it"):
        places(part, whole)


@pytest.mark.parametrize(
    "setup", [make_setup("nain_jaune", "classic", 8), make_setup("nain_jaune", "djeco", 2), make_setup("batasaurus", players=3)]
)
def test_the_unit_of_values_is_that_of_random_play_on_any_deals(setup: Setup) -> None:
    """Other deals, and the agent `random`: the same within the noise of either; and twice the same."""
    batch = Batch(setup, 2000, seed=5, autoreset=False)
    seats = np.zeros((2000, setup.players), np.int64)
    payoff = play_out(batch, [heuristics(setup.game.name)["random"]], seats, [np.random.default_rng(2)])
    assert random_payoff_scale(setup) == pytest.approx((payoff - payoff.mean(axis=1, keepdims=True)).std(), rel=0.1)
    assert random_payoff_scale(setup) == random_payoff_scale(setup)


def test_where_hardly_anything_is_paid_the_unit_is_one() -> None:
    """A unit is divided by. Payoffs of the game are 0 and 1."""
    assert random_payoff_scale(make_setup("signal_lamps")) == 1.0
