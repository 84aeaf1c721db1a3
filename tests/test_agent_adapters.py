"""Players of every kind as agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.players.search.agent import searching
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.agent_adapters import FunctionAgent, ModelAgent, SampledAgent, TorchAgent, as_agent, drawn, positions
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.support.edges import edge_of
from tests.support.positions import small, turns

SETUP = small()
RNG = np.random.default_rng(11)


def batched(observation: Any, mask: Any) -> Any:
    return mask.argmax(axis=1)


def both(observation: Any, mask: Any) -> Any:
    return mask.argmax(axis=-1)


def listed(observation: Any, mask: Any) -> Any:
    return [int(row.argmax()) for row in np.atleast_2d(mask)]  # for one decision too it is a list


def single(observation: Any, mask: Any) -> Any:
    return int(np.flatnonzero(mask)[0])


def drawing(observation: Any, mask: Any) -> Any:
    return RNG.choice(np.flatnonzero(mask))


class First:
    """An agent, but for a name."""

    def act(self, decisions: DecisionBatch, rng: Any) -> Any:
        return decisions.mask.argmax(axis=1)


class AtTables(First):
    """An agent that is made for some tables."""

    def __init__(self, setup: Setup, seed: int = 0) -> None:
        self.setup = setup
        self.name = "at_tables"


class Callable_:
    """A function that is an object."""

    def __call__(self, observation: Any, mask: Any) -> Any:
        return single(observation, mask)


class LikeSB3:
    """A model that takes masks, and must have them."""

    def predict(self, observation: Any, deterministic: bool, action_masks: Any) -> Any:
        assert deterministic
        return action_masks.argmax(axis=1), None


class SAC:
    """A model of other actions."""

    def predict(self, observation: Any, *, deterministic: bool) -> Any:
        return np.zeros((len(observation), 2)), None


class Wrong:
    """A model of other observations."""

    def predict(self, observation: Any, *, deterministic: bool) -> Any:
        raise ValueError("Unexpected shape")


class Net(torch.nn.Module):
    """Prefers low actions, the more the larger ``scale`` is; what drops out is drawn at random."""

    def __init__(self, setup: Setup, scale: float = 3.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(-scale * torch.arange(float(len(setup.game.actions))))
        self.dropout = torch.nn.Dropout(0.5)
        self.dtypes: list[torch.dtype] = []

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, None]:
        self.dtypes.append(observation.dtype)
        return self.dropout(self.weight.expand(len(observation), -1)), None


def no_arguments() -> Any:
    return First()


def of_setup(setup: Setup, seed: int = 1) -> Any:
    return single if setup == SETUP else None


@pytest.mark.parametrize(
    ("player", "kind", "name"),
    [
        ("lowest", Agent, "lowest"),
        (First(), First, "First"),
        (First, First, "First"),
        (AtTables, AtTables, "at_tables"),
        (no_arguments, First, "First"),
        (of_setup, FunctionAgent, "single"),
        (lambda table: AtTables(table), AtTables, "at_tables"),
        (batched, FunctionAgent, "batched"),
        (both, FunctionAgent, "both"),
        (listed, FunctionAgent, "listed"),
        (single, FunctionAgent, "single"),
        (Callable_(), FunctionAgent, "Callable_"),
        (Callable_, FunctionAgent, "Callable_"),
        (LikeSB3(), ModelAgent, "LikeSB3"),
        (Net(SETUP), TorchAgent, "Net"),
        (Net, TorchAgent, "Net"),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_kind_plays(player: Any, kind: type, name: str) -> None:
    """They all play the first legal action, which is what ``lowest`` does not."""
    agent = as_agent(player, SETUP)
    assert isinstance(agent, kind)
    assert agent.name == name
    again = as_agent(player, SETUP, "mine")
    assert (again.name, agent.name) == ("mine", name)
    if name != "lowest":
        edge = edge_of(SETUP, [again, as_agent(First(), SETUP)], 20, seed=1)
        assert edge.moments.differing == 0


def test_an_agent_is_itself() -> None:
    agent = AtTables(SETUP)
    assert as_agent(agent, SETUP) is as_agent(agent, SETUP, "at_tables") is agent
    unnamed = First()
    assert as_agent(unnamed, SETUP) is not unnamed
    assert not hasattr(unnamed, "name")


@pytest.mark.parametrize(
    ("function", "is_batched"), [(batched, True), (both, True), (listed, True), (single, False), (drawing, False)]
)
def test_a_function_is_tried_for_one_decision_and_for_many(function: Callable[..., Any], is_batched: bool) -> None:
    before = RNG.bit_generator.state
    agent = as_agent(function, SETUP)
    assert isinstance(agent, FunctionAgent)
    assert agent.batched == is_batched
    assert RNG.bit_generator.state == before


def test_what_is_said_outright_is_not_tried() -> None:
    def never(observation: Any, mask: Any) -> Any:
        raise AssertionError

    for said in (True, False):
        agent = as_agent(never, SETUP, batched=said)
        assert isinstance(agent, FunctionAgent)
        assert agent.batched is said


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus", "signal_lamps"])
def test_functions_are_tried_at_different_real_positions(game: str) -> None:
    setup = make_setup(game)
    observations, masks, legal = positions(setup)
    assert len(np.unique(observations, axis=0)) == len(observations) == 3
    assert ((legal[:, None] >> np.arange(masks.shape[1]) & 1 == 1) == masks).all()
    assert all((one == other).all() for one, other in zip(positions(setup), (observations, masks, legal), strict=True))


@pytest.mark.parametrize(
    ("player", "says"),
    [
        (
            lambda o, m: "x",
            r"shapes \(3, 128\) and \(3, 24\), and gave <U1, shape \(\); asked for one, .* it gave 'x'\. Expected",
        ),
        (
            lambda o, m: -1,
            r"^The function '<lambda>' chose an illegal action\. Action -1 \(.*\) is not legal at .*; legal: \d+ \(\w+\)",
        ),
        (
            lambda o, m: 23 + m.argmax(-1),
            r"chose an illegal action\. Action 2\d \((7d~|actions .*)\) is not legal at .*; legal: \d+ \(",
        ),
        (lambda o, m: m.sum(axis=-1) * 0.5, r"and gave \[.*\.5.*\]; asked for one, .* it gave np\.float64"),
        (lambda o, m: np.zeros(4, int), r"and gave int64, shape \(4,\); asked for one, .* it gave int64, shape \(4,\)"),
        (lambda o, m: {}["x"], r"and raised \"KeyError: 'x'\"; asked for one, .* it raised \"KeyError"),
        (
            lambda o, m: 23 - m[..., ::-1].argmax(-1) if m.ndim == 2 else m.argmax(),
            "the same both times if it takes both; as_agent",
        ),
        (lambda o, m, rng: 0, r"takes the observation and the mask, and '<lambda>' takes others\."),
        (lambda: 5, r"^'<lambda>' was called to make a player, and gave 5: a player is the name of an agent, .* torch module\.$"),
        (lambda: lambda: 5, r"'<lambda>' made <function .*, and a player is the name of an agent"),
        (type("Needs", (First,), {"__init__": lambda self, one, two: None}), "takes the setup or nothing, and 'Needs' needs "),
        (type("Odd", (), {"predict": lambda self, x: x})(), r"A model as a player has predict\(observation, deterministic=…\)"),
        (torch.nn.Linear(3, 24), r"'Linear' was tried with observations of shape \(3, 128\), and raised 'RuntimeError"),
        (torch.nn.Linear(128, 23), r"'Linear' was asked for logits, a tensor of shape \(3, 24\), and gave shape \(3, 23\)\."),
        (type("Nameless", (First,), {"name": 5})(), r"The name of an agent is a text, not 5\."),
        (type("Fixed", (First,), {"name": property(lambda self: 5)})(), r"The name of an agent is a text, not 5\."),
        (SAC(), r"The model 'SAC' was asked for 3 actions, whole numbers, and its state, a tuple, and gave \(array\("),
        (
            Wrong(),
            r"The model 'Wrong' was tried with observations of shape \(3, 128\), and raised 'ValueError: Unexp",
        ),
        ("lowset", "Did you mean 'lowest'"),
        (None, "or a torch module, not None"),
        (torch.nn.Linear, r"takes the setup or nothing, and 'Linear' needs in_features, out_features\."),
    ],
)
def test_what_is_no_player_is_told(player: Any, says: str) -> None:
    with pytest.raises(AgentError, match=says):
        as_agent(player, SETUP)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": b"x"}, r"^The name of an agent is a text, not b'x'\.$"),
        ({"name": 0}, r"^The name of an agent is a text, not 0\.$"),
        ({"batched": "no"}, r"^batched is True or False, not 'no'\.$"),
        ({"setup": "djeco"}, r"^Expected the rules of a table as make_setup\(\) returns them, not 'djeco'\.$"),
    ],
)
def test_other_arguments_are_told(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises((AgentError, RulesError), match=says):
        as_agent(**{"player": lambda observation, mask: mask.argmax(-1), "setup": SETUP, **arguments})


def test_a_name_that_cannot_be_set_is_told() -> None:
    fixed = type("Fixed", (First,), {"name": property(lambda self: "fixed")})()
    assert as_agent(fixed, SETUP).name == "fixed"
    with pytest.raises(AgentError, match=r"has a name that can be set, and that of .* cannot"):
        as_agent(fixed, SETUP, "mine")


def test_a_function_that_turns_wrong_is_told() -> None:
    agent = FunctionAgent(lambda o, m: 0.5, "half", batched=False)
    decisions = next(turns(SETUP, 1))
    with pytest.raises(AgentError, match=r"The function 'half' was asked for one action, a whole number, and gave 0\.5\."):
        agent.act(decisions, np.random.default_rng(1))


def test_a_torch_module_is_asked_in_evaluation_mode_and_stays_as_it_is() -> None:
    net = Net(SETUP)
    net.dropout.eval()
    state = torch.get_rng_state()
    agent = as_agent(net, SETUP)
    decisions = next(turns(SETUP, 1))
    first = agent.act(decisions, np.random.default_rng(1))
    assert (first == decisions.mask.argmax(axis=1)).all()
    assert (net.training, net.dropout.training) == (True, False)
    assert set(net.dtypes) == {torch.float32}
    assert torch.equal(torch.get_rng_state(), state)
    net.observation_dtype = torch.float64  # type: ignore[assignment]
    net.dtypes.clear()
    agent.act(decisions, np.random.default_rng(1))
    assert set(net.dtypes) == {torch.float64}


def test_a_torch_module_has_probabilities_and_can_be_searched_over() -> None:
    decisions = next(turns(SETUP, 1, tables=64))
    net = Net(SETUP, scale=0.1)
    likeliest = TorchAgent(net, 24)
    assert (likeliest.probabilities(decisions).max(axis=1) == 1).all()
    policy = TorchAgent(net, 24, stochastic=True)
    shares = policy.probabilities(decisions)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares[~decisions.mask] == 0).all()
    counts = np.zeros_like(shares)
    rng = np.random.default_rng(2)
    for _ in range(2000):
        counts[np.arange(64), policy.act(decisions, rng)] += 1
    assert np.abs(counts / 2000 - shares).max() < 0.06
    search = searching(likeliest, 4, SETUP)
    assert decisions.mask[np.arange(64), search.act(decisions, rng)].all()


def test_logits_that_are_nan_are_told() -> None:
    agent = as_agent(Net(SETUP, scale=float("nan")), SETUP)
    with pytest.raises(AgentError, match="'Net' gave logits of legal actions that are NaN or infinite"):
        agent.act(next(turns(SETUP, 1)), np.random.default_rng(1))


def test_draws_follow_the_probabilities() -> None:
    rows = np.array([[0.0, 0.25, 0.0, 0.75, 0.0]] * 4000)
    actions = drawn(rows, np.random.default_rng(3))
    assert set(actions) == {1, 3}
    assert abs((actions == 3).mean() - 0.75) < 0.03


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda mask: None, "gave None"),
        (lambda mask: [0.5], r"gave float64, shape \(1,\)"),
        (lambda mask: [[1.0], [0.5, 0.5]], r"gave \[\[1\.0\], \[0\.5, 0\.5\]\]"),
        (lambda mask: np.ones(3), r"gave float64, shape \(3,\)"),
        (lambda mask: np.full(mask.shape, "x"), r"gave \[\['x'"),
        (lambda mask: mask / mask.sum(axis=1, keepdims=True) * 0.9, r"gave the row \[0"),
        (lambda mask: mask * 0.0, r"gave the row \[0"),
        (lambda mask: mask * np.nan, r"gave the row \[nan"),
        (lambda mask: np.eye(mask.shape[1])[mask.argmax(axis=1)] * 2 - np.eye(mask.shape[1])[mask.argmax(axis=1) - 1], "-1"),
        (lambda mask: np.full(mask.shape, 1 / mask.shape[1]), r"gave the row \[0"),
    ],
)
def test_what_are_no_probabilities_is_told(given: Callable[[Any], Any], says: str) -> None:
    class Gives(First):
        name = "gives"

        def probabilities(self, decisions: DecisionBatch) -> Any:
            return given(decisions.mask)

    agent, decisions = SampledAgent(Gives(), "gives@sample"), next(turns(SETUP, 1))
    for ask in (agent.probabilities, lambda decisions: agent.act(decisions, RNG)):
        with pytest.raises(AgentError, match=f"'gives' was asked for probabilities of shape .* sum 1 in each row, and .*{says}"):
            ask(decisions)


def test_a_sampled_agent_keeps_what_the_other_one_needs() -> None:
    class Recalls(First):
        name = "recalls"
        needs_history = True

        def state_dtype(self, setup: Setup) -> np.dtype[Any]:
            return np.dtype(np.int8)

        def probabilities(self, decisions: DecisionBatch) -> Any:
            return decisions.mask / decisions.mask.sum(axis=1, keepdims=True)

    agent = SampledAgent(Recalls(), "recalls@sample")
    assert agent.needs_history
    assert agent.state_dtype(SETUP) == np.int8
    decisions = next(turns(SETUP, 1))
    actions = agent.act(decisions, np.random.default_rng(1))
    assert decisions.mask[np.arange(8), actions].all()
