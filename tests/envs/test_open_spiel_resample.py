"""States resampled from an information state, and OpenSpiel's IS-MCTS, which plays by them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.games import kuhn_poker  # noqa: F401  (registers it)

from nainjaune_env import check_no_leak
from nainjaune_env.core.errors import DealError
from nainjaune_env.envs import leak_check
from nainjaune_env.records.record import verify_record
from tests.envs.test_open_spiel import DEALT, GAMES, along, every_game, load, twins


def redacted(game: Any, state: Any, seat: int) -> bytes:
    """The table as ``seat`` may see it."""
    row = np.zeros(1, game.spec.table)
    row[0] = state.table
    game.spec.kernel.redact(row[0], game.setup.kernel_rules, seat)
    return row.tobytes()


def bot(game: Any, simulations: int, seed: int = 1) -> Any:
    chance = np.random.RandomState(seed)
    made = ISMCTSBot(game, RandomRolloutEvaluator(1, chance), 10.0, simulations, random_state=chance)
    made.set_resampler(lambda state, player: state.resample_from_infostate(player, chance.random_sample))
    return made


@every_game
@pytest.mark.parametrize("skip_forced", [True, False])
def test_a_resampled_state_agrees_with_all_that_the_player_knows_and_differs_elsewhere(
    name: str, params: dict[str, Any], skip_forced: bool
) -> None:
    game, rng = load(name, **params, skip_forced=skip_forced), random.Random(1)
    compared = apart = 0
    for seed in range(2):
        state = game.seeded_state(seed)
        while not state.is_terminal():
            if rng.random() < (1 if skip_forced else 0.2):
                player = rng.randrange(game.num_players())
                before = str(state)
                other = state.resample_from_infostate(player, rng.random)
                assert (other.current_player(), other.legal_actions(player)) == (
                    state.current_player(),
                    state.legal_actions(player),
                )
                if "chance" not in params:  # with chance=deal a deal stands for those that are equal by kinds of cards
                    assert redacted(game, other, player) == redacted(game, state, player)
                assert str(state) == before
                compared += 1
                apart += str(other) != before
            state.apply_action(rng.choice(state.legal_actions()))
    assert compared >= 2
    if params.get("memory") != "perfect":  # there only what lies face down in a battle is hidden
        assert apart >= compared / 2


@every_game
@pytest.mark.parametrize("skip_forced", [True, False])
def test_what_is_resampled_has_no_effect_on_what_the_player_sees(
    name: str, params: dict[str, Any], skip_forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors, strings and legal actions."""
    monkeypatch.setattr(leak_check, "ALL_OF_FIRST", 2)
    report = check_no_leak(load(name, **params, skip_forced=skip_forced), episodes=2)
    if params.get("memory") != "perfect":  # there only what lies face down in a battle is hidden
        assert {"observation_tensor", "observation_string", "information_state_string"} <= set(report.judged)


@pytest.mark.parametrize(("name", "params"), DEALT, ids=[f"{name} {params}" for name, params in DEALT])
def test_a_resampled_state_does_not_depend_on_hidden_cards(name: str, params: dict[str, Any]) -> None:
    game = load(name, **params, skip_forced=False)
    looked = 0
    for seed in range(3):
        viewer = seed % params["players"]
        first, second, plies = twins(name, params, seed, viewer)
        lines = (along(game, start, [ply[which] for ply in plies]) for which, start in enumerate((first, second)))
        for one, two in zip(*lines, strict=True):
            if one.is_terminal() or looked % 3:
                looked += 1
                continue
            chances = (random.Random(seed), random.Random(seed))
            drawn = [
                state.resample_from_infostate(viewer, chance.random) for state, chance in zip((one, two), chances, strict=True)
            ]
            assert str(one) != str(two)
            assert str(drawn[0]) == str(drawn[1])
            assert drawn[0].history() == drawn[1].history()
            looked += 1
    assert looked > 10


def test_every_deal_that_fits_is_as_likely() -> None:
    """At the first decision of a deck of four cards, for the seat that does not see it: the deals that leave its hand."""
    game = load("nain_jaune", players=2, ranks=4, suits=1, hand=2, chance="deal", skip_forced=False)
    state = game.seeded_state(5)
    player, rng, count = 1 - state.current_player(), random.Random(2), 900
    fits = []
    for outcome, _ in game.new_initial_state().chance_outcomes():
        other = game.new_initial_state()
        other.apply_action(outcome)
        if other.information_state_string(player) == state.information_state_string(player):
            fits.append(str(other))
    drawn = [str(state.resample_from_infostate(player, rng.random)) for _ in range(count)]
    assert set(drawn) == set(fits)
    spread = (count * (1 - 1 / len(fits)) / len(fits)) ** 0.5
    assert all(abs(drawn.count(text) - count / len(fits)) < 4.5 * spread + 1e-9 for text in fits)


def test_b4_2_a_player_remembers_its_own_cards_and_not_those_that_it_has_not_seen() -> None:
    game, rng = load("batasaurus", players=3), random.Random(3)
    state = game.seeded_state(3)
    first = state.current_player()
    waiting = (first + 1) % 3
    assert len({state.resample_from_infostate(waiting, rng.random).table["layout"][waiting].tobytes() for _ in range(8)}) == 8
    while state.is_chance_node() or len(state.seen()[1]) < 7:
        state.apply_action(rng.choice(state.legal_actions()))
    for player in range(3):
        layouts = [state.resample_from_infostate(player, rng.random).table["layout"] for _ in range(8)]
        for seat in range(3):
            seen = {layout[seat].tobytes() for layout in layouts}
            assert seen == {state.table["layout"][seat].tobytes()} if seat == player else len(seen) == 8


def test_a_resampled_round_is_played_on_and_recorded() -> None:
    rng = random.Random(4)
    for name, params in GAMES:
        state = load(name, **params).seeded_state(4)
        if state.is_terminal():
            continue
        other = state.resample_from_infostate(state.current_player(), rng.random)
        while not other.is_terminal():
            other.apply_action(rng.choice(other.legal_actions()))
        record = other.record()
        assert verify_record(record) == 1
        assert record["seed"] is None


def test_states_that_cannot_be_resampled() -> None:
    game = load("batasaurus", dinosaurs=3, memory="perfect")
    state = game.new_initial_state()
    with pytest.raises(DealError, match="after the deal and before the end"):
        state.resample_from_infostate(0, random.random)
    state = game.seeded_state(1)
    for player in (-1, 9, 0.5):
        with pytest.raises(DealError, match="Players are 0 to 1, not"):
            state.resample_from_infostate(player, random.random)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(DealError, match="after the deal and before the end"):
        state.resample_from_infostate(0, random.random)


# ---------------------------------------------------------------- IS-MCTS


@pytest.mark.parametrize(
    ("name", "params"),
    [("nain_jaune", {"players": 2, "ranks": 6, "suits": 2, "hand": 5}), ("batasaurus", {"players": 3, "dinosaurs": 4})],
)
def test_ismcts_plays_a_round_by_itself(name: str, params: dict[str, Any]) -> None:
    game = load(name, **params)
    played = []
    for _ in range(2):
        state, player = game.seeded_state(2), bot(game, 6)
        while not state.is_terminal():
            state.apply_action(int(player.step(state)))
        played.append(str(state))
    assert played[0] == played[1]


def test_ismcts_does_not_see_hidden_cards() -> None:
    params = {"preset": "djeco", "players": 4}
    game, compared = load("nain_jaune", **params, skip_forced=False), 0
    for seed in range(4):
        viewer = game.seeded_state(seed).current_player()
        first, second, plies = twins("nain_jaune", params, seed, viewer)
        lines = (along(game, start, [ply[which] for ply in plies]) for which, start in enumerate((first, second)))
        for one, two in zip(*lines, strict=True):
            if not one.is_terminal() and one.current_player() == viewer and len(one.legal_actions()) > 1:
                assert bot(game, 4).get_policy(one) == bot(game, 4).get_policy(two)
                compared += 1
                break
    assert compared >= 3
