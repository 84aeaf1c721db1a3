"""WebAssembly modules against the compiled loops of this machine: tables, logs and observations, byte for byte."""

import dataclasses
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_env import Batch, get_game
from nainjaune_env.build import wasm as modules
from nainjaune_env.build.wasm import WORLDS
from nainjaune_env.compiler.packed import pack
from nainjaune_env.core.errors import DealError, MissingLibraryError, RulesError
from nainjaune_env.core.events import OMNISCIENT, OPENING, PUBLIC
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.engine.start_values import MAX_START_VALUE
from nainjaune_env.engine.telling import Teller
from tests.wasm.conftest import REFUSED, Module, begin, redacted, setups


def assert_equal(module: Module, batch: Batch) -> None:
    session, size = module.session, batch.observation.shape[1]
    assert session["tables"][0].tobytes() == batch.tables[0].tobytes()
    assert session["legal"][0] == batch.legal[0]
    assert session["observation"][0, :size].tobytes() == batch.observation[0].tobytes()
    assert session["reward"][0, : batch.num_players].tolist() == batch.reward[0].tolist()
    assert session["done"][0] == batch.done[0]


def test_games_are_equal_ply_by_ply(module: Any) -> None:
    """All presets and seats, rounds and matches; an illegal action is refused and changes nothing."""
    rng = np.random.default_rng(1)
    for setup, whole_match in setups(module.game):
        batch = begin(module, setup, whole_match, int(rng.integers(2**64, dtype=np.uint64)))
        while not batch.done[0]:
            assert_equal(module, batch)
            for action in (-1, 63, 1 << 20, *np.flatnonzero(~batch.mask[0])[:2].tolist()):
                assert module("step", action) == REFUSED
            action = int(rng.choice(np.flatnonzero(batch.mask[0])))
            batch.step([action])
            assert module("step", action) == 0
        assert_equal(module, batch)
        assert module("step", 0) == REFUSED
        opening, seats, actions = batch.log.episode(0)
        plies = module.session["log_plies"][0, : module.session["log_marks"][0, 0]]
        assert plies.tolist() == np.stack([seats, actions], axis=1).tolist()
        assert module.session["log_tables"][0, 0].tobytes() == opening.tobytes()


def test_a_match_is_taken_back_to_any_ply(module: Any) -> None:
    rng = np.random.default_rng(2)
    taken_back = 0
    for setup, _ in setups(module.game):
        batch = begin(module, setup, 1, int(rng.integers(2**63)))
        while not batch.done[0] and taken_back < 40:
            action = int(rng.choice(np.flatnonzero(batch.mask[0])))
            batch.step([action])
            assert module("step", action) == 0
            stays = int(rng.integers(batch.log.count[0] + 1))
            if rng.random() < 0.2:
                try:
                    batch.undo([0], to=[stays])
                except DealError:  # a batch does not take back a deal; a module does, as nobody plays it for chips
                    continue
                taken_back += 1
                assert module("rewind", stays) == 0
                assert module.session["tables"][0].tobytes() == batch.tables[0].tobytes()
                assert module.session["legal"][0] == batch.legal[0]
                assert module.session["deals"][0] == batch.deals[0]
        count = int(module.session["log_marks"][0, 0])
        assert module("rewind", count + 1) == module("rewind", -1) == REFUSED
    assert taken_back > 3


def test_seats_see_and_draw_what_they_may(module: Any) -> None:
    for setup, _ in setups(module.game):
        batch = begin(module, setup, 0, 5)
        worlds, seat = module.session["worlds"], int(batch.seat[0])
        for other in range(setup.players):
            assert module("redact", other) == 0
            assert worlds[0].tobytes() == redacted(setup, batch, other)[0].tobytes()
            size = module("observe", other)
            assert module.session["observation"][0, :size].tobytes() == batch.observe(other, [0])[0].tobytes()
        assert module("redact", setup.players) == module("redact", -1) == module("observe", setup.players) == REFUSED
        assert module("resample", 9, WORLDS) == 0
        expected = determinize(setup, redacted(setup, batch, seat), np.zeros(WORLDS, np.int64), np.array([9], np.uint64))
        assert worlds.tobytes() == expected.tobytes()
        assert module("resample", 9, WORLDS + 1) == module("resample", 9, 0) == REFUSED


def test_events_are_told_as_natively(module: Any) -> None:
    """Rows hidden afterwards are as those hidden while they are written, and the ply itself is as it is made without telling."""
    rng = np.random.default_rng(4)
    for setup, _ in setups(module.game):
        begin(module, setup, 0, int(rng.integers(2**63)))
        module.session["tables"][0] = module.session["log_tables"][0, 0]  # without forced plies
        assert module("place", 0) == 0
        viewers = [OMNISCIENT, PUBLIC, *range(setup.players)]
        tables = {viewer: module.session["tables"].copy() for viewer in viewers}
        tellers = {viewer: Teller(setup, tables[viewer], viewer) for viewer in viewers}
        assert module("tell", 0, -1, OMNISCIENT) == REFUSED  # the round is not opened
        action = OPENING
        while True:
            viewer = int(rng.choice(viewers))
            rows = {each: [list(row) for row in teller.ply(action)] for each, teller in tellers.items()}
            assert module("tell", action, -1, OMNISCIENT) == len(rows[OMNISCIENT])
            assert module.session["rows"][: len(rows[OMNISCIENT])].tolist() == rows[OMNISCIENT]
            assert module("hide", len(rows[viewer]), viewer) == 0
            assert module.session["rows"][: len(rows[viewer])].tolist() == rows[viewer]
            assert module.session["tables"][0].tobytes() == tables[viewer][0].tobytes()
            legal = int(module.session["legal"][0])
            if not legal:
                break
            action = int(rng.choice([a for a in range(64) if legal >> a & 1]))
        assert module("tell", action, -1, OMNISCIENT) == module("tell", OPENING, -1, OMNISCIENT) == REFUSED


def test_events_are_told_of_all_plies_of_a_round(module: Any) -> None:
    setup = get_game(module.game).setup()
    begin(module, setup, 1, 3)
    module.session["tables"][0] = module.session["log_tables"][0, 0]
    assert module("place", 0) == 0
    for shown, viewer in ((-2, 0), (64, 0), (-1, -3), (-1, setup.players)):
        assert module("tell", OPENING, shown, viewer) == REFUSED
    assert module("tell", OPENING, -1, 0) >= 0
    action = int(module.session["legal"][0]).bit_length() - 1
    assert module("tell", action, -1, 0) > 0
    assert module.session["log_plies"][0, 0, 1] == action
    for rows, viewer in ((-1, 0), (module.session["rows"].shape[0] + 1, 0), (0, -3), (0, setup.players)):
        assert module("hide", rows, viewer) == REFUSED
    action = int(module.session["legal"][0]).bit_length() - 1
    assert module("ply", action) == 0
    assert module("tell", int(module.session["legal"][0]).bit_length() - 1, -1, 0) == REFUSED
    assert module("rewind", 0) == 0
    assert module("tell", action, -1, 0) == REFUSED


def test_start_values_out_of_range_are_refused(module: Any) -> None:
    game = get_game(module.game)
    count = sum(game.start_values.values())
    begin(module, game.setup(), 1, 3)
    for value in (-1, MAX_START_VALUE + 1):
        module.session["start_values"][:] = value
        assert module("begin", 1, count) == (REFUSED if count else 0)
    module.session["start_values"][:] = MAX_START_VALUE
    assert module("begin", 1, count) == 0
    assert module("begin", 1, count + 1) == module("begin", 1, -1) == REFUSED


def test_what_is_hidden_does_not_show(module: Any) -> None:
    """A seat observes the same, may do the same and is advised the same wherever the cards lie that it cannot know."""
    rng = np.random.default_rng(8)
    for setup, _ in setups(module.game):
        batch, session = begin(module, setup, 0, int(rng.integers(2**63))), module.session
        for _ in range(int(rng.integers(8))):
            if not batch.done[0]:
                action = int(rng.choice(np.flatnonzero(batch.mask[0])))
                batch.step([action])
                assert module("step", action) == 0
        if batch.done[0]:
            continue
        seat, size, legal = int(batch.seat[0]), setup.layout.size, int(batch.legal[0])
        assert module("resample", 3, 8) == 0
        sums = []
        for world in [batch.tables[0], *session["worlds"][:8].copy()]:
            session["tables"][0] = world
            assert module("place", 0) == 0
            assert session["legal"][0] == legal
            assert module("observe", seat) == size
            assert session["observation"][0, :size].tobytes() == batch.observation[0].tobytes()
            session["sum"] = 0
            assert module("playouts", -1, 9, legal, 4) == 0
            sums.append(session["sum"].tolist())
        assert all(each == sums[0] for each in sums)


def test_rules_of_any_knobs_are_packed(module: Any) -> None:
    """The same numbers as natively, and the same refusals; numbers out of range change nothing."""
    game = get_game(module.game)
    rng = random.Random(7)
    refused = 0
    for _ in range(300):
        preset, rules = rng.choice([*game.presets.values()]), {}
        for f in dataclasses.fields(preset.rules):
            low, high = modules.knob_limits(f.metadata)
            choices = f.metadata["choices"] or (False, True)
            number = rng.choice([low, high, rng.randint(low, high), rng.randint(low, min(high, low + 20))])
            rules[f.name] = choices[number] if f.metadata["kind"] != "number" else number if number >= f.metadata["low"] else None
        knobs, players = preset.rules.replace(**rules), rng.choice(preset.players)
        module.session["knobs"][: len(knobs.numbers())] = knobs.numbers()
        module.session["numbers"] = 0
        sentence = module("pack", players)
        if sentence:
            refused += 1
            with pytest.raises(RulesError) as caught:
                game.kernel_rules(knobs, players)
            assert game.refusals[sentence - 1].format(*module.session["details"]) == str(caught.value)
            assert not module.session["numbers"].any()
        else:
            expected = pack(game.kernel_rules(knobs, players))
            assert module.session["numbers"][: len(expected)].tolist() == expected.tolist()
    assert refused or module.game != "nain_jaune"
    module.session["knobs"][0] = -1
    assert module("pack", 2) == REFUSED
    module.session["knobs"][: len(knobs.numbers())] = knobs.numbers()
    assert module("pack", 1) == module("pack", 99) == REFUSED


def test_without_the_linker_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    game = get_game("signal_lamps")  # loaded before the library is hidden
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"needs the package 'ziglang'.*wasm"):
        modules.build(game, tmp_path)
