"""The OpenSpiel adaptor: the same games as a batch plays, what is observed, what is hidden, parameters, records.

OpenSpiel's own checkers are in ``test_open_spiel_suites``, its solvers in ``test_open_spiel_solvers``.
"""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import DealError, IllegalActionError, RecordError, RulesError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs import open_spiel as adaptor
from nainjaune_env.envs.pettingzoo_aec import raw_env
from nainjaune_env.records.record import verify_record
from nainjaune_env.records.recorder import record_of_episode
from nainjaune_env.registry import game_names, get_game
from tests.support.contract import helper
from tests.support.games import games_with

GAMES = [
    ("nain_jaune", {"preset": "djeco", "players": 4}),
    ("nain_jaune", {"preset": "classic", "players": 5, "decline": "always"}),
    ("nain_jaune", {"preset": "skip", "players": 3, "announce": "explicit", "unannounced": 1}),
    ("nain_jaune", {"preset": "tableau", "players": 8}),
    ("nain_jaune", {"preset": "djeco", "players": 2, "ranks": 5, "suits": 2, "hand": 4, "chance": "deal"}),
    ("batasaurus", {"players": 2}),
    ("batasaurus", {"players": 4, "memory": "perfect", "exhausted": "void"}),
    ("batasaurus", {"players": 2, "dinosaurs": 3, "chance": "deal"}),
]
every_game = pytest.mark.parametrize(("name", "params"), GAMES, ids=[f"{name} {params}" for name, params in GAMES])
SETTINGS = ("preset", "players", "chance", "returns", "skip_forced")
ALL = pyspiel.PrivateInfoType.ALL_PLAYERS
SINGLE = pyspiel.PrivateInfoType.SINGLE_PLAYER
NONE = pyspiel.PrivateInfoType.NONE


def load(name: str, **params: Any) -> Any:
    return pyspiel.load_game(f"python_{name}", params)


def kind(public: bool, private: Any, recall: bool = False) -> Any:
    return pyspiel.IIGObservationType(public_info=public, private_info=private, perfect_recall=recall)


def knobs_of(params: dict[str, Any]) -> dict[str, Any]:
    return {knob: value for knob, value in params.items() if knob not in SETTINGS}


# ---------------------------------------------------------------- the same games


@every_game
@pytest.mark.parametrize("skip_forced", [True, False])
def test_the_same_seed_gives_the_same_games_as_a_batch_and_the_same_records(
    name: str, params: dict[str, Any], skip_forced: bool
) -> None:
    game = load(name, **params, skip_forced=skip_forced)
    setup, rng = game.setup, np.random.default_rng(0)
    assert setup == get_game(name).setup(params.get("preset"), params["players"], **knobs_of(params))
    observer = make_observation(game)
    env = raw_env(params.get("preset"), params["players"], game=name, skip_forced=skip_forced, **knobs_of(params))
    for seed in range(2):
        batch = Batch(setup, 1, seed=seed, skip_forced=skip_forced, autoreset=False, log=True)
        env.reset(seed=seed)
        state = game.seeded_state(seed)
        paid = batch.reward[0].copy()
        while not batch.done[0]:
            assert state.current_player() == batch.seat[0]
            assert state.legal_actions() == legal_actions(int(batch.legal[0]))
            assert state.table.tobytes() == batch.tables[0].tobytes()
            for seat in range(setup.players):
                observer.set_from(state, seat)
                views = setup.layout.views((batch.observe(seat)[0] - setup.layout.zero) / setup.layout.scale)
                assert list(observer.dict) == ["player", *views]
                assert observer.dict["player"].tolist() == [rel == seat for rel in range(setup.players)]
                for slot, expected in views.items():
                    np.testing.assert_array_equal(observer.dict[slot], expected.astype(np.float32))
            action = int(rng.choice(state.legal_actions()))
            batch.step([action])
            env.step(action)
            state.apply_action(action)
            paid += batch.reward[0]
        assert state.is_terminal()
        assert state.returns() == paid.tolist()
        names = ["x"] * setup.players
        record = state.record(names)
        assert record == env.record(names) == record_of_episode(batch, 0, agents=names, seed=seed)
        assert verify_record(record) == 1


@every_game
def test_what_python_finds_first_is_what_openspiel_says(name: str, params: dict[str, Any]) -> None:
    """Our methods answer in place of OpenSpiel's own, which call others of ours."""
    game, rng = load(name, **params), np.random.default_rng(5)
    state, general = game.new_initial_state(), pyspiel.State
    while True:
        assert state.is_chance_node() == general.is_chance_node(state)
        assert state.legal_actions() == general.legal_actions(state)
        for player in range(game.num_players()):
            assert state.legal_actions(player) == general.legal_actions(state, player)
            assert state.observation_tensor(player) == general.observation_tensor(state, player)
            if game.get_type().provides_information_state_tensor:
                assert state.information_state_tensor(player) == general.information_state_tensor(state, player)
        if state.current_player() >= 0:
            assert state.observation_tensor() == general.observation_tensor(state)
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert state.legal_actions() == []
    for given in ((), (-1,), (game.num_players(),)):
        with pytest.raises(pyspiel.SpielError):
            general.observation_tensor(state, *given)
        with pytest.raises(pyspiel.SpielError):
            state.observation_tensor(*given)
        with pytest.raises(pyspiel.SpielError):
            state.information_state_tensor(*given)


@every_game
def test_copies_go_on_by_themselves_and_nothing_is_observed_unread(name: str, params: dict[str, Any]) -> None:
    game, rng = load(name, **params), np.random.default_rng(6)
    state = game.new_initial_state()
    texts: list[str] = []
    while not state.is_terminal():
        assert state._round.seen is None
        twin = state.clone()
        twin.apply_action(twin.legal_actions()[0])
        texts = [twin.information_state_string(seat) for seat in range(game.num_players()) if not twin.is_chance_node()]
        first, again = state.legal_actions()[0], state.clone()
        again.apply_action(first)
        assert str(again) == str(twin)
        assert again.history() == twin.history()
        assert [again.information_state_string(seat) for seat in range(len(texts))] == texts
        made = twin.plies().tolist()
        state.apply_action(int(rng.choice(state.legal_actions())))
        assert twin.plies().tolist() == made
    assert state.clone().returns() == state.returns()
    for other in (state.clone(), pickle.loads(pickle.dumps(state))):
        assert other.record() == state.record()


@every_game
def test_a_seed_is_a_line_of_chance_moves(name: str, params: dict[str, Any]) -> None:
    game = load(name, **params)
    seeded = game.seeded_state(7)
    state = game.new_initial_state()
    for outcome in seeded.history()[: game.max_chance_nodes_in_history()]:
        assert state.is_chance_node()
        chances = dict(state.chance_outcomes())
        assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
        assert outcome in chances
        state.apply_action(outcome)
    assert not state.is_chance_node()
    for seat in range(game.num_players()):
        assert state.information_state_string(seat) == seeded.information_state_string(seat)
    assert state.history() == seeded.history()
    assert str(state) == str(seeded)


@every_game
def test_returns_do_not_depend_on_skipping_forced_plies(name: str, params: dict[str, Any]) -> None:
    asked, every = load(name, **params), load(name, **params, skip_forced=False)
    net = load(name, **params, returns="net")
    rng = np.random.default_rng(1)
    for seed in range(3):
        one, two, three = (game.seeded_state(seed) for game in (asked, every, net))
        while not one.is_terminal():
            action = int(rng.choice(one.legal_actions()))
            while len(two.seen()[1]) < len(one.seen()[1]):
                two.apply_action(two.legal_actions()[0])
            assert [two.information_state_string(s) for s in range(params["players"])] == [
                one.information_state_string(s) for s in range(params["players"])
            ]
            for state in (one, two, three):
                state.apply_action(action)
        while not two.is_terminal():
            two.apply_action(two.legal_actions()[0])
        assert one.returns() == two.returns()
        assert three.returns() == pytest.approx(np.array(one.returns()) - np.mean(one.returns()))
        assert sum(three.returns()) == pytest.approx(0, abs=1e-9)


def test_what_is_declared_of_utilities() -> None:
    utility = pyspiel.GameType.Utility
    for name, params in GAMES:
        game, net = load(name, **params), load(name, **params, returns="net")
        assert (game.get_type().utility, net.get_type().utility) == (utility.GENERAL_SUM, utility.ZERO_SUM)
        assert (game.utility_sum(), net.utility_sum()) == (None, 0)
        assert net.max_utility() - net.min_utility() >= game.max_utility() - game.min_utility()


# ---------------------------------------------------------------- observers


def test_pieces_are_the_layouts_slots() -> None:
    game = load("nain_jaune", players=3)
    slots = [slot.name for slot in game.layout]
    private = [slot.name for slot in game.layout if slot.private]
    public = [name for name in slots if name not in private]
    others = [f"{name}_of_{rel}" for rel in (1, 2) for name in private]
    for given, expected in (
        (None, slots),
        (kind(True, SINGLE), slots),
        (kind(True, NONE), public),
        (kind(False, SINGLE), private),
        (kind(False, NONE), []),
        (kind(True, ALL), [*slots, *others]),
        (kind(False, ALL), [*private, *others]),
    ):
        observer = make_observation(game, given)
        assert list(observer.dict) == ["player", *expected]
        state = game.seeded_state(1)
        observer.set_from(state, 1)
        assert all(np.shares_memory(piece, observer.tensor) for piece in observer.dict.values())
        assert sum(piece.size for piece in observer.dict.values()) == observer.tensor.size
        text = observer.string_from(state, 1)
        assert [name for name in expected if f" {name}=" in text or f" {name}[" in text] == expected
    with pytest.raises(RulesError, match="take no parameters"):
        game.make_py_observer(None, {"x": 1})


def test_the_private_pieces_of_all_players_are_what_each_of_them_sees() -> None:
    game = load("nain_jaune", players=4)
    state = game.seeded_state(2)
    everyone, own = make_observation(game, kind(True, ALL)), make_observation(game)
    for seat in range(4):
        everyone.set_from(state, seat)
        for rel in range(1, 4):
            own.set_from(state, (seat + rel) % 4)
            np.testing.assert_array_equal(everyone.dict[f"hand_of_{rel}"], own.dict["hand"])


def test_perfect_recall_keeps_every_ply_and_ones_own_actions() -> None:
    game = load("nain_jaune", players=2, ranks=5, suits=2, hand=4)
    recall, now = make_observation(game, kind(True, SINGLE, recall=True)), make_observation(game)
    state, rng = game.seeded_state(3), np.random.default_rng(3)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    seen, plies = state.seen()
    assert len(plies) > 4
    assert {int(seat) for seat, _ in plies} == {0, 1}
    for player in range(2):
        recall.set_from(state, player)
        now.set_from(state, player)
        for slot in game.layout:
            steps = recall.dict[slot.name]
            assert steps.shape == (game.extent.plies + 1, *slot.shape)
            np.testing.assert_array_equal(steps[len(plies)], now.dict[slot.name])
            dealt = game.layout.view(seen[0, player], slot.name)
            np.testing.assert_array_equal(steps[0], (dealt - float(slot.zero)) / slot.scale)
            assert not steps[len(plies) + 1 :].any()
        own = [(k, int(action)) for k, (seat, action) in enumerate(plies) if seat == player]
        assert [tuple(map(int, at)) for at in np.argwhere(recall.dict["actions"])] == own
        told = state.information_state_string(player).split(" | ")
        assert len(told) == len(plies) + 1
        for k, (seat, action) in enumerate(plies):
            assert told[k + 1].startswith(f"{seat} {game.spec.actions[action]}: " if seat == player else ": ")


def test_a_long_round_has_no_tensor_of_all_its_plies() -> None:
    game = load("nain_jaune", preset="skip", players=8)
    assert not game.get_type().provides_information_state_tensor
    observer = make_observation(game, kind(True, SINGLE, recall=True))
    assert observer.tensor is None
    with pytest.raises(RulesError, match=r"up to \d+ plies has no tensor"):
        observer.set_from(game.seeded_state(0), 0)
    with pytest.raises(RulesError, match=r"up to \d+ plies has no tensor"):
        game.seeded_state(0).information_state_tensor(0)
    assert observer.string_from(game.seeded_state(0), 0)


def test_before_the_deal_nobody_sees_anything() -> None:
    game = load("nain_jaune")
    state = game.new_initial_state()
    state.apply_action(2)
    state.apply_action(5)
    observer = make_observation(game)
    observer.set_from(state, 1)
    assert observer.string_from(state, 1) == "p1"
    assert observer.tensor.nonzero()[0].tolist() == [1]
    with pytest.raises(DealError, match="no table yet"):
        _ = state.table


# ---------------------------------------------------------------- nothing hidden shows


def exchanged(game: Any, drawn: list[int], viewer: int, rng: random.Random) -> list[int]:
    """Another deal: two draws of other seats change places, or one takes something that was not drawn. Hands come in a row."""
    size = (len(drawn) - 1) // game.num_players()
    hidden = [k for k in range(1, len(drawn)) if (k - 1) // size != viewer]
    other_outcomes = game.chance.outcomes(game.setup, drawn[:2] + drawn[3:]) if len(drawn) > 3 else []
    while True:
        other = list(drawn)
        one, two = rng.sample(hidden, 2)
        if other_outcomes and rng.random() < 0.3:
            other[one] = rng.choice(other_outcomes)
        else:
            other[one], other[two] = drawn[two], drawn[one]
        allowed = all(outcome in game.chance.outcomes(game.setup, other[:k]) for k, outcome in enumerate(other))
        if allowed and game.chance.canonical(game.setup, other) != game.chance.canonical(game.setup, drawn):
            return other


def twins(name: str, params: dict[str, Any], seed: int, viewer: int) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Two deals that ``viewer`` cannot tell apart, and the plies, as actions in both, until it can."""
    game, rng = load(name, **params, skip_forced=False), random.Random(seed)
    first = game.seeded_state(seed).history()
    second = exchanged(game, first, viewer, rng)
    one, two = (next(along(game, start, [])) for start in (first, second))
    plies: list[tuple[int, int]] = []
    while not one.is_terminal():
        action = rng.choice(one.legal_actions())
        match = helper(game.setup).counterpart(game.setup, one.table, two.table, action)
        if match is None:
            break
        plies.append((action, match))
        one.apply_action(action)
        two.apply_action(match)
    return first, second, plies


def along(game: Any, start: list[int], plies: list[int]) -> Iterator[Any]:
    """The states that the plies lead through, as far as they have been asked for."""
    state = game.new_initial_state()
    for outcome in start:
        state.apply_action(outcome)
    yield state
    while not state.is_terminal() and len(state.seen()[1]) < len(plies):
        state.apply_action(plies[len(state.seen()[1])])
        if len(state.seen()[1]) <= len(plies):  # forced plies may lead past the last one
            yield state


DEALT = [g for g in GAMES if "chance" not in g[1] and g[1].get("memory") != "perfect"]


@pytest.mark.slow
@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize(("name", "params"), DEALT, ids=[f"{name} {params}" for name, params in DEALT])
def test_hidden_cards_never_show(name: str, params: dict[str, Any], skip_forced: bool) -> None:
    game = load(name, **params, skip_forced=skip_forced)
    kinds = [kind(True, SINGLE), kind(True, NONE), kind(False, SINGLE), kind(True, NONE, recall=True)]
    observers = [make_observation(game, given) for given in kinds]
    everything = make_observation(game, kind(True, ALL, recall=True))
    looks = apart = 0
    for seed in range(16):
        if min(looks, apart) > 12:
            break
        viewer = (game.seeded_state(seed).current_player() + seed % 2) % params["players"]
        first, second, plies = twins(name, params, seed, viewer)
        shown: list[list[Any]] = [[], []]
        truths: list[list[str]] = [[], []]
        for which, start in enumerate((first, second)):
            for state in along(game, start, [ply[which] for ply in plies]):
                if state.is_terminal():
                    continue  # settling (N3) tells what was left in hands
                if state.current_player() != viewer and skip_forced:
                    continue  # that a state stops at a seat tells that this seat has a choice; the viewer's turns tell nothing
                looked: list[Any] = [state.information_state_string(viewer), state.observation_string(viewer)]
                looked += [state.legal_actions(viewer), *state.observation_tensor(viewer)]
                for observer in observers:
                    looked.append(observer.string_from(state, viewer))
                    if observer.tensor is not None:
                        observer.set_from(state, viewer)
                        looked += observer.tensor.tolist()
                shown[which].append(looked)
                truths[which].append(everything.string_from(state, viewer))
        assert shown[0] == shown[1]
        looks += len(shown[0])
        apart += sum(one != two for one, two in zip(*truths, strict=True))
    assert looks >= 10
    assert apart >= 8


def test_b2_3_a_committed_card_is_nobodys_to_see_until_all_are_shown() -> None:
    game = load("batasaurus", players=3, memory="perfect", chance="deal")
    rng, compared = np.random.default_rng(5), 0
    for seed in range(10):
        state = game.seeded_state(seed)
        while not state.is_terminal():
            acting = state.current_player()
            children = [state.child(action) for action in state.legal_actions()]
            if all(child.table["hidden"][acting] for child in children):
                for viewer in {0, 1, 2} - {acting}:
                    for given in (kind(True, SINGLE), kind(True, SINGLE, recall=True), kind(True, NONE, recall=True)):
                        observer = make_observation(game, given)
                        assert len({observer.string_from(child, viewer) for child in children}) == 1
                    assert len({tuple(child.observation_tensor(viewer)) for child in children}) == 1
                    assert len({child.information_state_string(acting) for child in children}) == len(children)
                    compared += len(children) > 1
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert compared > 10


# ---------------------------------------------------------------- states


def test_a_game_goes_through_pickle_to_a_process_that_has_not_imported_the_adaptor() -> None:
    text = pickle.dumps(load("batasaurus", dinosaurs=3, chance="deal")).hex()
    code = f"import pickle; print(pickle.loads(bytes.fromhex({text!r})).max_chance_outcomes())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "72"


def test_an_illegal_action_names_the_legal_ones_and_changes_nothing() -> None:
    state = load("nain_jaune").seeded_state(2)
    before, legal = state.table.tobytes(), state.legal_actions()
    for action in {*range(24)} - {*legal}:
        with pytest.raises(IllegalActionError, match="legal: "):
            state.clone().apply_action(action)
    assert (state.table.tobytes(), state.legal_actions()) == (before, legal)
    with pytest.raises(RecordError, match="finished round"):
        state.record()
    with pytest.raises(DealError, match="A seed is a whole number"):
        load("nain_jaune").seeded_state(1.5)
    with pytest.raises(DealError, match=r"^A seed is a whole number from 0 to \d+, not .{1,200}\.$"):
        load("nain_jaune").seeded_state("x" * 10**6)
    with pytest.raises(RulesError, match=r"^Observers take no parameters, not .{1,200}\.$"):
        load("nain_jaune").make_py_observer(params={"x" * 10**6: 1})


def test_chance_draws_only_what_it_can() -> None:
    state = load("nain_jaune", players=3).new_initial_state()
    for moves, impossible in (([], 3), ([0], 52), ([0, 17], 17)):  # a seat, a card, a card that was dealt
        state = load("nain_jaune", players=3).new_initial_state()
        for move in moves:
            state.apply_action(move)
        with pytest.raises(IllegalActionError, match=f"no outcome {impossible} here; it has"):
            state.clone().apply_action(impossible)
        assert state.history() == moves
    state = load("batasaurus", dinosaurs=3, chance="deal").new_initial_state()
    for impossible in (72, -2):
        with pytest.raises(IllegalActionError, match="it has 72, from 0 to 71"):
            state.clone().apply_action(impossible)


# ---------------------------------------------------------------- parameters


def test_every_knob_is_a_parameter_and_left_to_the_preset() -> None:
    for name in games_with("chance"):
        spec = get_game(name)
        for preset in spec.presets:
            assert load(name, preset=preset).setup.rules == spec.presets[preset].rules
        assert set(load(name).get_parameters()) == {*SETTINGS, *spec.presets[spec.default_preset].rules.names()}
    game = pyspiel.load_game("python_nain_jaune(preset=skip,players=6,starting_stack=0,end_on_default=no,stake=2,decline=entry)")
    told = game.setup.rules.to_dict()
    assert (told["starting_stack"], told["end_on_default"], told["stake"], told["decline"]) == (None, False, 2, "entry")
    assert game.get_type().max_num_players == 8


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"preset": "skp"}, "Unknown preset 'skp'. Did you mean 'skip'"),
        ({"players": 5}, "is for 2 to 4 players, not 5"),
        ({"decline": "nevr"}, "Unknown value for the knob 'decline': 'nevr'. Did you mean 'never'"),
        ({"end_on_default": "true"}, "Unknown value for the knob 'end_on_default': 'true'. Valid: yes, no, preset"),
        ({"stake": 0}, "The knob 'stake' is a whole number from 1"),
        ({"chance": "cards"}, "Unknown value for 'chance': 'cards'. Valid: draws, deal"),
        ({"returns": "chips"}, "Unknown value for 'returns': 'chips'. Valid: payoffs, net"),
        ({"chance": "deal"}, "at most 100,000 outcomes, and Nain Jaune under these rules has more deals"),
        ({"ranks": 5}, r"The deck has 20 cards .* at most 5 each would do"),
    ],
)
def test_parameters_that_cannot_be(params: dict[str, Any], told: str) -> None:
    with pytest.raises(RulesError, match=told):
        load("nain_jaune", **params)


def test_registering_again_changes_nothing() -> None:
    before = pyspiel.registered_names()
    adaptor.register()
    assert pyspiel.registered_names() == before
    assert [name for name in game_names() if f"python_{name}" in before] == [*games_with("chance")]
