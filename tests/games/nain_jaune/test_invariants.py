"""Tables that the rules do not allow, one for each invariant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.state import NOBODY, POT_LIMIT
from nainjaune_env.registry import make_setup

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


def more_for_who_captured_nothing(row: Any) -> None:
    row["stack"][0, int(np.argmin(np.isin(np.arange(3), row["captor"][0])))] += 1


def chips_in_a_captured_pot(row: Any) -> None:
    row["pot"][0, int(np.argmax(row["captor"][0] != NOBODY))] = 1


def pay_more_than_the_antes(row: Any) -> None:
    row["stack"][0, 0] -= 16
    row["pot"][0, 0] += 16  # no chip is lost


def lead_of_another(row: Any) -> None:
    row["required_rank"] = 0
    row["seat"] = (row["last"] + 1) % 3


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
    (change("stack", 0, -1), "0 to 281474976710655 chips in a stack"),
    (change("before", 0, 1 << 48), "0 to 281474976710655 chips in a stack"),
    (change("stack", slice(0, 2), 1 << 30), f"0 to {5 * POT_LIMIT} more chips in stacks and pots than in 'before'"),
    (change("stack", 0, 0), f"0 to {5 * POT_LIMIT} more chips in stacks and pots than in 'before'"),
    (change("stack", 0, 1 << 30), "no stack to gain more than captured pots can hold and losers owe (N2.7, N3)"),
    (more_for_who_captured_nothing, "no stack to gain more than captured pots can hold and losers owe (N2.7, N3)"),
    (pay_more_than_the_antes, "no stack to lose more than its seat owes to pots and to the winner (N2, N3)"),
    (chips_in_a_captured_pot, "no chips in pot "),
    (change("before", 0, 1 << 33), "at most 2147483647 chips from 'before'"),
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
    (change("required_rank", (), 1), "the rank above a card of 'last' (N2.3)"),
    (lead_of_another, "the lead with the seat that played last (N2.3, N2.6)"),
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


def test_what_the_losers_pay_is_bounded_by_their_cards() -> None:
    setup = make_setup("nain_jaune", "classic", 3)
    batch = Batch(setup, 200, seed=1, autoreset=False)
    batch.play_out(streams(2, 200))
    captor, winner = batch.tables["captor"], batch.tables["winner"]
    row = batch.tables[(captor != winner[:, None]).all(axis=1) & (captor[:, 0] == NOBODY) & (batch.tables["opera"] == 0)][:1]
    setup.check_tables(row)
    for chips, says in ((1, "no stack to gain more than"), (-1, "no stack to lose more than")):
        changed = row.copy()
        changed["stack"][0, row["winner"][0]] += chips
        changed["pot"][0, 0] -= chips
        with pytest.raises(DealError, match=says):
            setup.check_tables(changed)


def test_a_silent_play_costs_no_more_than_its_pot() -> None:
    setup = make_setup("nain_jaune", "djeco", 3, announce="explicit", unannounced=2)
    batch, draws = Batch(setup, 64, seed=1, autoreset=False), streams(2, 64)
    for _ in range(9):
        batch.step(batch.sample(draws))
    setup.check_tables(batch.tables)
    lost = batch.tables["stack"] - batch.tables["before"]
    k, seat = np.unravel_index(int(np.argmin(lost)), lost.shape)
    assert lost[k, seat] < -15
    row = batch.tables[[k]]
    row["stack"][0, seat] -= 1000
    row["before"][0, (seat + 1) % 3] -= 1000
    with pytest.raises(DealError):
        setup.check_tables(row)
