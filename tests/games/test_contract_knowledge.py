"""What holds for every game there is: what a seat observes, and what it must not come to know."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nainjaune_env
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.telling import Teller
from nainjaune_env.envs import leak_check
from nainjaune_env.registry import get_game
from tests.support.contract import CHOICES, advance, all_setups, any_setup, everything, finish, helper, single
from tests.support.games import games_with
from tests.support.redealt import opened, picture_of, redeal

every_setup = pytest.mark.parametrize("setup", all_setups())
some = settings(max_examples=60, deadline=None, derandomize=True, database=None)
few = settings(some, max_examples=15)
SEEDS = st.integers(0, 2**64 - 1)
STYLES = st.sampled_from(sorted(CHOICES))


class Eyes:
    """The kernel's functions on single tables; rules and size are worked out once."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rules = setup.kernel_rules
        self.size = setup.layout.size
        self.kernel = setup.game.kernel

    def observed(self, table: Any, seat: int) -> bytes:
        out = np.zeros(self.size, np.uint8)
        self.kernel.encode(table, self.rules, seat, out)
        return out.tobytes()

    def redacted(self, table: Any, seat: int) -> Any:
        rows = np.array([table])
        self.kernel.redact(rows[0], self.rules, seat)
        return rows[0]

    def resampled(self, known: Any, seat: int, state: int) -> Any:
        rows = np.array([known])
        rows["rng"] = np.uint64(state)
        self.kernel.resample(rows[0], self.rules, seat)
        return rows[0]

    def legal(self, table: Any) -> int:
        return int(self.kernel.legal(table, self.rules))


def played(setup: Setup, seed: int, plies: int, style: str) -> tuple[Eyes, Batch, random.Random]:
    """Returns a batch of one table after some plies, and the generator that chose them."""
    rng, batch = random.Random(seed), single(setup, seed=seed)
    advance(batch, plies, rng, style)
    return Eyes(setup), batch, rng


# ---------------------------------------------------------------- the observation


@every_setup
def test_observations_are_as_the_layout_says(setup: Setup) -> None:
    batch, draws = Batch(setup, 32, seed=1, skip_forced=False), streams(1, 32)
    assert batch.observation.shape == (32, setup.layout.size)
    for _ in range(120):
        for seat in range(setup.players):
            assert (batch.observe(seat) <= setup.layout.high).all()
        batch.step(batch.sample(draws))


@every_setup
def test_encode_writes_every_byte_and_none_beyond(setup: Setup) -> None:
    size, rng = setup.layout.size, random.Random(2)
    batch = single(setup, seed=2)
    for _ in range(40):
        if not batch.legal[0]:
            batch.reset()
        for seat in range(setup.players):
            outs = []
            for poison in (0xAA, 0x55):
                out = np.full(size + 16, poison, np.uint8)
                assert setup.game.kernel.encode(batch.tables[0], setup.kernel_rules, seat, out) == size
                assert (out[size:] == poison).all()
                outs.append(out[:size].tobytes())
            assert outs[0] == outs[1]
        advance(batch, 1, rng)


@every_setup
def test_any_seat_can_be_observed_and_nothing_changes(setup: Setup) -> None:
    batch, draws = Batch(setup, 9, seed=3), streams(3, 9)
    for _ in range(40):
        before = everything(batch)
        each = np.stack([batch.observe(seat) for seat in range(setup.players)])
        assert everything(batch) == before
        assert np.array_equal(each[batch.seat, np.arange(9)], batch.observation)
        assert np.array_equal(batch.observe(batch.seat), batch.observation)
        assert len({row.tobytes() for row in each[:, 0]}) == setup.players
        batch.step(batch.sample(draws))


# ---------------------------------------------------------------- redacted tables, and what is hidden drawn anew


@some
@given(setup=any_setup(), seed=SEEDS, plies=st.integers(0, 120), style=STYLES)
def test_a_redacted_table_is_all_that_a_seat_may_know(setup: Setup, seed: int, plies: int, style: str) -> None:
    """Enough to see, to move and to draw from it tables that the seat could not tell from its own; no secret has an effect."""
    eyes, batch, rng = played(setup, seed, plies, style)
    table = batch.tables[0]
    before = table.tobytes()
    for seat in range(setup.players):
        known, other = eyes.redacted(table, seat), helper(setup).reshuffle(setup, table, seat, rng)
        drawn = eyes.resampled(known, seat, seed)
        assert helper(setup).leaks(setup, known, seat) == []
        for like in (other, known, drawn):
            assert eyes.observed(like, seat) == eyes.observed(table, seat)
            assert eyes.redacted(like, seat).tobytes() == known.tobytes()
            if seat == table.seat and batch.legal[0]:
                assert eyes.legal(like) == eyes.legal(table)
        assert eyes.resampled(eyes.redacted(other, seat), seat, seed).tobytes() == drawn.tobytes()
    assert table.tobytes() == before
    if batch.legal[0]:
        assert batch.redacted()[0].tobytes() == eyes.redacted(table, int(table.seat)).tobytes()
        assert batch.redacted([0]).tobytes() == batch.redacted().tobytes()
        assert table.tobytes() == before


@few
@given(setup=any_setup("pictures", "render_text"), seed=SEEDS, plies=st.integers(0, 120), style=STYLES)
def test_a_redacted_table_has_the_same_picture_and_text(setup: Setup, seed: int, plies: int, style: str) -> None:
    eyes, batch, _ = played(setup, seed, plies, style)
    pictures, text = setup.game.pictures, setup.game.render_text
    assert pictures is not None
    assert text is not None
    for seat in range(setup.players):
        table, known = batch.tables[0], eyes.redacted(batch.tables[0], seat)
        assert (pictures.svg(setup, known, seat), text(setup, known, seat)) == (
            pictures.svg(setup, table, seat),
            text(setup, table, seat),
        )


def with_one_knob_turned() -> list[Any]:
    """The default preset of every game at its fewest seats with any other value of a word or a flag, or the lowest number."""
    result = []
    for name in games_with():
        game = get_game(name)
        preset = game.presets[game.default_preset]
        for f in fields(preset.rules):
            values = {"word": f.metadata.get("choices"), "flag": (True, False)}.get(f.metadata["kind"]) or (f.metadata["low"],)
            for value in values:
                try:
                    setup = game.setup(game.default_preset, preset.players[0], **{f.name: value})
                except RulesError:  # knobs that do not go together
                    continue
                if setup.rules != preset.rules:
                    result.append(pytest.param(setup, id=f"{name}-{f.name}-{value}"))
    return result


@pytest.mark.parametrize("setup", [*all_setups(), *with_one_knob_turned()])
def test_nothing_that_an_environment_shows_a_seat_depends_on_what_is_hidden(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Observation, mask, infos, picture and text; and `reshuffle` changes what others see, or this would hold of any encoder."""
    monkeypatch.setattr(leak_check, "ALL_OF_FIRST", 2)
    picture = picture_of(setup)
    seen = {"observation"} if picture is None else {"observation", "picture"}
    for episodes in (2, 8, 32, 128):  # under some rules little is hidden
        report = nainjaune_env.check_no_leak(opened(setup), redeal, picture=picture, episodes=episodes)
        if seen <= set(report.judged):
            return
    raise AssertionError(str(report))


@some
@given(setup=any_setup(), seed=SEEDS, style=STYLES)
def test_a_seat_sees_the_same_wherever_the_public_play_is_the_same(setup: Setup, seed: int, style: str) -> None:
    """Two deals that a seat cannot tell apart, and play that shows the same, as long as both allow it: not a byte differs.

    The seat is told the same events. To tell a ply is to make it, and no game writes more rows than there is space for.
    """
    eyes = Eyes(setup)
    rng = random.Random(seed)
    one = single(setup, seed=seed)
    seat = rng.randrange(setup.players)
    two = single(setup, seed=seed)
    two.set_tables(0, helper(setup).reshuffle(setup, one.tables[0], seat, rng), trusted=True)
    tables = [one.tables.copy(), two.tables.copy()]
    tellers = [Teller(setup, rows, seat) for rows in tables]
    assert alike(setup, tellers[0].open()) == alike(setup, tellers[1].open())
    for _ in range(400):
        assert eyes.observed(two.tables[0], seat) == eyes.observed(one.tables[0], seat)
        assert eyes.redacted(two.tables[0], seat).tobytes() == eyes.redacted(one.tables[0], seat).tobytes()
        like = {
            action: other
            for action in legal_actions(int(one.legal[0]))
            if (other := helper(setup).counterpart(setup, one.tables[0], two.tables[0], action)) is not None
        }
        if not like:
            break
        action = CHOICES[style](sorted(like), rng)
        one.step([action])
        two.step([like[action]])
        events = [teller.ply(made) for teller, made in zip(tellers, (action, like[action]), strict=True)]
        assert [rows.tobytes() for rows in tables] == [one.tables.tobytes(), two.tables.tobytes()]
        if one.done[0] or two.done[0]:  # the end shows what was hidden
            break
        assert alike(setup, events[0]) == alike(setup, events[1])


def alike(setup: Setup, events: list[EventRow]) -> list[EventRow]:
    """The events, cards that the rules do not tell apart alike: which of them is shown depends on the hand."""
    same = getattr(helper(setup), "same_card", lambda event: event)
    return [same(event) for event in events]


@some
@given(setup=any_setup(), seed=SEEDS, plies=st.integers(0, 60), style=STYLES)
def test_a_resampled_table_plays_on_to_the_end_and_into_the_next_round(setup: Setup, seed: int, plies: int, style: str) -> None:
    eyes, batch, rng = played(setup, seed, plies, style)
    seat = rng.randrange(setup.players)
    batch.set_tables(0, eyes.resampled(eyes.redacted(batch.tables[0], seat), seat, seed))
    finish(batch, rng, style)
    assert batch.tables["stage"][0] != Stage.PLAYING
    if batch.tables["stage"][0] == Stage.ROUND_OVER:
        eyes.kernel.deal(batch.tables[0], eyes.rules)
        batch.set_tables(0, batch.tables)
        finish(batch, rng, style)
        assert batch.tables["stage"][0] != Stage.PLAYING


@every_setup
def test_resampling_draws_different_tables(setup: Setup) -> None:
    """Or the tests above would hold of one that always fills in the same; a small game may hide one card of two."""
    eyes, rng = Eyes(setup), random.Random(6)
    batch = single(setup, seed=6)
    for _ in range(60):
        table = batch.tables[0]
        drawn = np.array([eyes.resampled(eyes.redacted(table, 0), 0, state) for state in range(6)])
        others = np.array([helper(setup).reshuffle(setup, table, 0, rng) for _ in range(6)])
        drawn["rng"] = others["rng"] = 0
        different, possible = (len({row.tobytes() for row in rows}) for rows in (drawn, others))
        if different >= max(2, min(possible, 3)):
            return
        advance(batch, 1, random.Random(6))
        if batch.done[0]:
            batch.reset()
    raise AssertionError("nothing was ever drawn")


# ---------------------------------------------------------------- seats


@some
@given(setup=any_setup(), seed=SEEDS, plies=st.integers(0, 60), by=st.integers(1, 7), style=STYLES)
def test_seats_rotated_give_results_rotated(setup: Setup, seed: int, plies: int, by: int, style: str) -> None:
    eyes = Eyes(setup)
    rng, n = random.Random(seed), setup.players
    one = single(setup, seed=seed)
    advance(one, plies, rng, style)
    if not one.legal[0]:
        return
    two = single(setup, seed=seed + 1)
    two.set_tables(0, helper(setup).rotate(setup, one.tables[0], by), trusted=True)
    one.set_tables(0, one.tables)  # so that both pay what the round has paid so far from here
    while one.legal[0]:
        assert two.legal[0] == one.legal[0]
        assert two.tables["seat"][0] == (one.tables["seat"][0] + by) % n
        assert np.array_equal(two.observation, one.observation)
        for seat in range(n):
            assert eyes.observed(two.tables[0], (seat + by) % n) == eyes.observed(one.tables[0], seat)
        two.step(advance(one, 1, rng, style))
        assert two.reward[0].tolist() == np.roll(one.reward[0], by).tolist()
    assert two.done[0]
