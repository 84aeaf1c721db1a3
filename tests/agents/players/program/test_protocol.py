"""Messages of the protocol: what hello says, and which answers are read. Faults of real programs are in `test_agent.py`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nainjaune_agents.players.program import protocol
from nainjaune_agents.players.program.faults import BotFault, Fault
from nainjaune_agents.players.program.protocol import ACTIONS, PROBABILITIES, WANTS, Choice, Question, Ready
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env.registry import game_names, get_game
from tests.agents.players.program.programs import SETUP

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-1, 4) | st.floats() | st.text(max_size=4) | st.sampled_from(WANTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
TYPES = st.sampled_from(["ready", "refuse", ACTIONS, PROBABILITIES]) | JSON
KEYS = ["protocol", "name", "version", "wants", "batch", "distribution", "deterministic", "reason"]
LEGAL = np.array([0b1010, 0b1], np.int64)


def read(answer: str, **message: Any) -> list[Choice]:
    question = Question(answer, np.array([7, 8]), np.array([0, 1]), LEGAL)
    return protocol.read_answer(json.dumps({"type": answer, **message}).encode(), question, SETUP.game.actions)


@pytest.mark.parametrize("game", game_names())
def test_hello_says_all_of_the_game(game: str) -> None:
    setup = get_game(game).setup()
    hello = json.loads(protocol.hello(setup, BotSettings()))
    assert {key: hello[key] for key in setup.to_dict()} == setup.to_dict()
    assert hello["actions"] == [*setup.game.actions]
    assert [(feature["name"], feature["shape"]) for feature in hello["layout"]] == [
        (feature.name, [*feature.shape]) for feature in setup.layout
    ]
    assert hello["fingerprint"] == setup.layout.fingerprint
    assert hello["seconds"] == {"start": 10.0, "decision": 5.0}
    assert len(hello["rules_text"]) > 50


def test_an_answer_is_read_by_decision() -> None:
    assert read(ACTIONS, actions=[3, 0]) == [Choice(3), Choice(0)]
    assert read(ACTIONS, actions=[1, 0], values=[1, None], comments=[None, "é" * 500]) == [
        Choice(1, None, 1, None),
        Choice(0, None, None, "é" * 500),
    ]
    rows = [[0.25, 0.75], [1]]
    assert read(PROBABILITIES, probabilities=rows) == [Choice(-1, rows[0]), Choice(-1, rows[1])]
    assert [choice.probabilities for choice in read(ACTIONS, type=PROBABILITIES, probabilities=rows)] == rows


@pytest.mark.parametrize(
    "row",
    [
        [1.0],
        [0.5, 0.5001],
        [1.5, -0.5],
        [float("nan"), 1.0],
        [10**400, 0.5],
        ["1", 0.0],
        1,
    ],
)
def test_a_row_that_is_no_distribution_is_refused(row: Any) -> None:
    with pytest.raises(BotFault) as fault:
        read(PROBABILITIES, probabilities=[row, [1.0]])
    assert fault.value.kind == Fault.INVALID


def test_a_sum_may_be_off_by_rounding() -> None:
    assert read(PROBABILITIES, probabilities=[[0.5, 0.5 + 5e-7], [1]])[0].probabilities == [0.5, 0.5 + 5e-7]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"type": ACTIONS, "actions": [1, 0]}, "an answer of the type 'probabilities', not 'actions'"),
        ({"probabilities": [[0.5, 0.5]]}, "to be a list of 2 items, one for each decision, not"),
        ({"probabilities": [[0.5, 0.5], [1]], "values": [1]}, "'values' to be a list of 2 items"),
        ({"probabilities": [[0.5, 0.5], [1]], "values": [1, "2"]}, r"Expected `float \| null`, got `str` - at `\$.values"),
        ({"probabilities": [[0.5, 0.5], [1]], "comments": [1, None]}, r"Expected `str \| null`, got `int` - at `\$.comments"),
    ],
)
def test_other_answers_are_refused_in_a_sentence(message: dict[str, Any], said: str) -> None:
    with pytest.raises(BotFault, match=said):
        read(PROBABILITIES, **message)


def test_a_reason_is_shown_as_text_and_not_without_end() -> None:
    with pytest.raises(BotFault) as fault:
        protocol.read_ready(json.dumps({"type": "refuse", "reason": "\x1b[2J" + "x" * 100_000}).encode())
    assert str(fault.value).startswith("It refuses: \\x1b[2Jxxx")
    assert len(str(fault.value)) < 600


def read_or_fault(read: Callable[[bytes], Any], message: dict[str, Any]) -> Any:
    try:
        return read(json.dumps(message).encode())
    except BotFault as fault:
        return fault


@given(st.fixed_dictionaries({"type": TYPES}, optional=dict.fromkeys(KEYS, JSON)))
def test_any_greeting_is_read_or_invalid(message: dict[str, Any]) -> None:
    ready = read_or_fault(protocol.read_ready, {"protocol": 1, "name": "x", **message})
    if isinstance(ready, BotFault):
        assert ready.kind == Fault.INVALID
    else:
        assert isinstance(ready, Ready)
        assert ready.batch >= 1


ROWS = st.lists(JSON | st.lists(st.sampled_from([0, 0.5, 1]), max_size=2), max_size=2)
ANSWERS = st.fixed_dictionaries(
    {"type": TYPES}, optional={ACTIONS: JSON | ROWS, PROBABILITIES: ROWS, "values": ROWS, "comments": ROWS}
)


@given(st.sampled_from([ACTIONS, PROBABILITIES]), ANSWERS)
def test_any_answer_is_legal_or_a_fault(answer: str, message: dict[str, Any]) -> None:
    question = Question(answer, np.array([7, 8]), np.array([0, 1]), LEGAL)
    choices = read_or_fault(lambda given: protocol.read_answer(given, question, SETUP.game.actions), message)
    if isinstance(choices, BotFault):
        assert choices.kind in (Fault.INVALID, Fault.ILLEGAL)
        return
    for choice, legal in zip(choices, LEGAL.tolist(), strict=True):
        assert (choice.probabilities is None) == (choice.action >= 0)
        assert choice.action < 0 or legal >> choice.action & 1
        assert choice.probabilities is None or len(choice.probabilities) == legal.bit_count()
