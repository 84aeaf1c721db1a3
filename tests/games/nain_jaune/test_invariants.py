"""Tables that are not safe to play on, one for each invariant; what passes stays safe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.invariants import MAX_GAIN
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.games.nain_jaune.state import NOBODY, POT_LIMIT
from nainjaune_env.registry import make_setup
from tests.support.mutated import accepted, midway_tables, play_checked

SETUP = make_setup("nain_jaune", players=3)


def in_play() -> Any:
    """A table some plies into a round, in which a seat has captured a pot."""
    batch, draws = Batch(SETUP, 64, seed=1, autoreset=False), streams(2, 64)
    for _ in range(9):
        batch.step(batch.sample(draws))
    payload = (batch.tables["captor"] != NOBODY).any(axis=1) & (batch.tables["void"] > 0).any(axis=1) & ~batch.done
    return batch.tables[payload][:1].copy()


def change(name: str, at: Any, value: Any) -> Any:
    def changed(row: Any) -> None:
        row[name][(0, *at) if isinstance(at, tuple) else (0, at)] = value

    return changed


def same_card_twice(row: Any) -> None:
    row["hand"][0, 1] = row["hand"][0, 0]
    row["cards"][0, 1] = row["cards"][0, 0]


def card_for_another(row: Any) -> None:
    lowest = row["hand"][0, 0] & -row["hand"][0, 0]
    row["hand"][0, 0] ^= lowest
    row["hand"][0, 1] |= lowest
    row["cards"][0, :2] += np.array([-1, 1], np.int16)


def void_of_a_held_rank(row: Any) -> None:
    payload = int(row["hand"][0, 0]) & -int(row["hand"][0, 0])
    row["void"][0, 0] |= 1 << (payload.bit_length() - 1) % 13


def swapped(one: int, two: int) -> Any:
    def changed(row: Any) -> None:
        row["deck"][0, [one, two]] = row["deck"][0, [two, one]]

    return changed


def captor_without_the_card(row: Any) -> None:
    pot = int(np.argmax(row["captor"][0] != NOBODY))
    row["captor"][0, pot] = (row["captor"][0, pot] + 1) % 3


def chips_in_a_captured_pot(row: Any) -> None:
    row["pot"][0, int(np.argmax(row["captor"][0] != NOBODY))] = 1


def everything_played(row: Any) -> None:
    row["played"][0, 0] |= row["hand"][0, 0]
    row["hand"][0, 0] = row["cards"][0, 0] = row["void"][0, 0] = 0


CHANGES = [
    (change("pot", 0, -(2**31)), "0 to 268435456 chips in a pot (N4.7); its field 'pot' is [-2147483648, "),
    (change("pot", 4, POT_LIMIT + 1), "chips in a pot (N4.7)"),
    (same_card_twice, "every card in one hand, or played once; its field 'hand' is ["),
    (card_for_another, "15 cards dealt to each seat, in hand or played (N1.4)"),
    (change("hand", 0, 1 << 52), "sets of cards of the deck (N1.1, N1.7)"),
    (change("played", 2, -1), "sets of cards of the deck (N1.1, N1.7)"),
    (change("cards", 1, 99), "the number of cards in each hand"),
    (change("hand", 3, 1), "0 from seat 3 on"),
    (change("stack", 7, 1), "0 from seat 3 on"),
    (change("stack", 0, -1), "0 to 562949953421311 chips in a stack"),
    (change("before", 0, 1 << 48), "0 to 281474976710655 chips in a stack"),
    (change("stack", slice(0, 3), 2 * POT_LIMIT), f"0 to {5 * POT_LIMIT} more chips in stacks and pots than in 'before'"),
    (change("stack", 0, 0), f"0 to {5 * POT_LIMIT} more chips in stacks and pots than in 'before'"),
    (chips_in_a_captured_pot, "no chips in pot "),
    (change("before", 0, 1 << 33), "at most 2147483647 chips from 'before', with what the round can still bring"),
    (change("void", 0, 1 << 13), "sets of ranks"),
    (change("passed", 0, 1 << 13), "sets of ranks"),
    (void_of_a_held_rank, "that holds it (N6)"),
    (change("deck", 0, 52), "the numbers 0 to 51, each once"),
    (swapped(0, 15), "the cards dealt to seat 0 in their place"),
    (change("dealer", (), 3), "a seat from 0 to 2; its field 'dealer' is 3."),
    (change("last", (), -1), "a seat from 0 to 2; its field 'last' is -1."),
    (change("captor", 0, 3), "seats from 0 to 2, or -1"),
    (captor_without_the_card, "that has played its card (N2.7)"),
    (change("winner", (), 1), "a winner where the round is over, else -1 (N2.8)"),
    (everything_played, "cards in every hand but the winner's (N2.8)"),
    (change("opera", (), 1), "no grand opéra before the end (N3.1)"),
    (change("opera", (), 2), "0 or 1"),
    (change("hand_untouched", (), -1), "0 or 1"),
    (change("turn_taken", (), 8), "a set of the 3 seats"),
    (change("defaults", (), -1), "a set of the 3 seats"),
    (change("required_rank", (), 14), "a rank from 1 to 13, or 0"),
    (change("rounds", (), 0), "at least 1 round"),
    (change("spare", 5, 1), "0; its field 'spare' is"),
    (change("stage", (), Stage.ROUND_OVER), "a winner where the round is over"),
]


@pytest.mark.parametrize(("spoil", "sentence"), CHANGES, ids=range(len(CHANGES)))
def test_a_table_that_the_rules_do_not_allow_is_refused(spoil: Any, sentence: str) -> None:
    row = in_play()
    batch = Batch(SETUP, 2, seed=3)
    batch.set_tables(0, row)
    spoil(row)
    before = batch.save()
    with pytest.raises(DealError) as refused:
        batch.set_tables(1, row)
    assert str(refused.value).startswith("This table cannot occur: expected ")
    assert sentence in str(refused.value)
    assert all(payload.tobytes() == batch.save()[name].tobytes() for name, payload in before.items())


def test_short_decks_come_first_in_the_deck() -> None:
    setup = make_setup("nain_jaune", players=2, ranks=4, suits=2, hand=3)
    row = Batch(setup, 1).tables.copy()
    row["deck"][0, [7, 8]] = row["deck"][0, [8, 7]]
    with pytest.raises(DealError, match=r"expected the 8 cards of the deck first \(N1\.7\)"):
        setup.check_tables(row)


def test_nobody_defaults_on_unlimited_credit() -> None:
    setup = make_setup("nain_jaune", "classic")
    row = Batch(setup, 1).tables.copy()
    row["defaults"] = 1
    with pytest.raises(DealError, match="expected no default on unlimited credit"):
        setup.check_tables(row)


def test_payoffs_stay_within_32_bits_to_the_end_of_the_round() -> None:
    """Two seats have gained and lost as much as is accepted, and every pot may be full."""
    setup = make_setup("nain_jaune", "classic", 3, announce="explicit", unannounced=60)
    rows = accepted(setup, midway_tables(setup, 100, np.random.default_rng(1)))
    playing = rows[rows["stage"] == Stage.PLAYING]
    playing["pot"][playing["captor"] == NOBODY] = POT_LIMIT
    played = np.bitwise_or.reduce(playing["played"], axis=1)
    unplayed = np.bitwise_count(rules_of(setup).pot_set & ~played).astype(np.int64)
    most = MAX_GAIN - POT_LIMIT * (1 + (playing["captor"] == NOBODY).sum(axis=1))
    least = POT_LIMIT * (1 + unplayed) - MAX_GAIN
    playing["before"] = playing["stack"]
    playing["before"][:, 0] -= most
    playing["before"][:, 1] -= least
    less = np.maximum(most + least + playing["pot"].sum(axis=1) - 5 * POT_LIMIT, 0)  # as chips only move
    playing["before"][:, 2] += less
    fits = accepted(setup, playing)
    assert len(fits) > 20
    play_checked(setup, fits, 2)
    for seat, chips in ((0, 1), (1, -1)):
        beyond = fits.copy()
        beyond["stack"][:, seat] += chips
        assert len(accepted(setup, beyond)) == 0
