"""What a bot is sent of a decision: right in every field, equal where a seat knows the same, and no more than it wants."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.players.program.player import load
from nainjaune_agents.players.program.protocol import PLIES, WANTS, FeatureText, Rows
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.text.seat import TextSeat
from tests.agents.players.program.programs import SETUP, script
from tests.support.contract import all_setups, helper

FIRST = """
import json, sys
ready, path = json.loads(sys.argv[1]), sys.argv[2]
for line in sys.stdin:
    open(path, "a").write(line)
    m = json.loads(line)
    if m["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1, "id": 0, "name": "first", **ready}), flush=True)
    if m["type"] == "turn":
        print(json.dumps({"type": "actions", "id": m["id"], "actions": [d["legal"][0] for d in m["decisions"]]}), flush=True)
"""
"""Any game's lowest legal actions, by a program that writes down what it reads."""


def wants_of(setup: Setup) -> list[str]:
    """All that a bot can be sent there."""
    return [word for word in WANTS if word != PLIES or setup.game.rewind is not None]


def positions(setup: Setup, tables: int, plies: int, seed: int = 3) -> Batch:
    """Tables in the middle of rounds, with a log where their plies can be sent."""
    batch, chance = Batch(setup, tables, seed=seed, log=PLIES in wants_of(setup)), streams(seed, tables)
    for _ in range(plies):
        batch.step(batch.sample(chance))
    return batch


def decisions_at(batch: Batch) -> DecisionBatch:
    return DecisionBatch(batch, np.arange(batch.num_tables), None, batch.log is not None)


@pytest.mark.parametrize("setup", all_setups())
def test_every_field_says_what_it_should(setup: Setup) -> None:
    decisions = decisions_at(positions(setup, 5, 6))
    seeds = np.array([2**53 - 1, 1, 2, 3, 0])
    sent = [json.loads(row) for row in Rows(setup, wants_of(setup)).encode(decisions, seeds)]
    for k, row in enumerate(sent):
        legal = legal_actions(int(decisions.legal[k]))
        seat, observation = int(decisions.seat[k]), decisions.observation[k]
        assert (row["seat"], row["legal"], row["seed"]) == (seat, legal, seeds[k])
        assert row["moves"] == [setup.game.actions[action] for action in legal]
        assert row["features"] == {name: view.tolist() for name, view in setup.layout.views(observation).items()}
        assert base64.b64decode(row["observation"]) == observation.tobytes()
        assert row["text"] == TextSeat(setup).situations(decisions, np.array([k]))[0]
        if decisions._batch.log is not None:
            plies = decisions._batch.log.round(k)
            assert row["plies"] == [[int(who), int(what)] for who, what in zip(plies.seats, plies.actions, strict=True)]


def test_nothing_that_is_not_wanted_is_sent() -> None:
    decisions = decisions_at(positions(SETUP, 2, 3))
    for word in WANTS:
        rows = Rows(SETUP, [word]).encode(decisions, None)
        assert [{*json.loads(row)} for row in rows] == [{"seat", "legal", word}] * 2


@pytest.mark.parametrize("setup", all_setups())
def test_hidden_cards_change_no_byte_of_what_a_bot_reads(setup: Setup, tmp_path: Path) -> None:
    """Asked over its pipes at tables that differ only in what the seat to act may not know."""
    rng, path = random.Random(7), tmp_path / "read"
    command = f"exec:{script(FIRST)} {json.dumps(json.dumps({'wants': wants_of(setup), 'batch': 64}))} {path}"
    bot = load(command, setup, BotSettings())
    differ = 0
    for plies in range(0, 12, 2):
        batch = positions(setup, 4, plies)
        bot.act(decisions_at(batch), np.random.default_rng(1))
        mixed = np.array([helper(setup).reshuffle(setup, row, int(row.seat), rng) for row in batch.tables])
        differ += sum(one.tobytes() != other.tobytes() for one, other in zip(mixed, batch.tables, strict=True))
        other = Batch(setup, 4, log=batch.log is not None)
        other.set_tables(np.arange(4), mixed, trusted=True)
        if batch.log is not None and other.log is not None:  # the same plies, which everybody saw, from the other deal
            assert setup.game.rewind is not None
            arrays = batch.log.rows(np.arange(4))
            arrays.tables[:] = setup.game.rewind(batch.log.dealt, mixed)[:, None]
            other.log.arrays = arrays
        bot.act(decisions_at(other), np.random.default_rng(1))
    bot.close()
    messages = [json.loads(line) for line in path.read_text().splitlines()]
    turns = [message for message in messages if message["type"] == "turn"]
    assert len(turns) == 12
    for one, other_turn in zip(turns[::2], turns[1::2], strict=True):
        assert json.dumps(one | {"id": 0}) == json.dumps(other_turn | {"id": 0})
    assert differ >= 12


def test_features_of_all_widths_are_json() -> None:
    """Numbers of one, two and three digits, in shapes of one and two axes."""
    layout = Layout(
        (
            Feature('a "quoted" é %d', (1,), "", high=255),
            Feature("b", (2, 3), "", high=12),
            Feature("c", (1,), ""),
            Feature("d", (3,), "", high=100),
        )
    )
    rows = [[255, 0, 1, 2, 10, 11, 12, 1, 100, 20, 3], [0] * 11]
    texts = FeatureText(layout).encode(np.array(rows, np.uint8))
    assert [json.loads(text) for text in texts] == [
        {name: view.tolist() for name, view in layout.views(np.array(row, np.uint8)).items()} for row in rows
    ]
    assert len(texts[0]) == len(texts[1])
