"""ONNX files as players: our own play as the network does, others by the documented names; all else is refused in a sentence."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from nainjaune_agents.players.foreign.onnx_model import OnnxAgent, load
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.onnx_export import write_onnx
from nainjaune_agents.players.networks.onnx_format import KEY
from nainjaune_agents.players.search import searching
from nainjaune_env.core.errors import AgentError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.inference.test_inference import both, each
from tests.agents.players.networks.test_onnx_export import net_of
from tests.support.edges import edge_of
from tests.support.positions import asked, small
from tests.support.source import ROOT

SETUP = small()
SIZE = SETUP.layout.size
MLP: dict[str, Any] = {"name": "mlp", "hidden": [12]}


def copied(agent: NetAgent, setup: Setup, folder: Path) -> OnnxAgent:
    path = folder / "copy.onnx"
    write_onnx(path, agent, setup)
    return load(f"onnx:{path}", setup)


@each
@both
@pytest.mark.parametrize("stochastic", [False, True])
def test_a_copy_plays_as_the_network(arch: dict[str, Any], setup: Setup, stochastic: bool, tmp_path: Path) -> None:
    """Equal actions and probabilities along rounds; what is drawn comes from the generator that is passed in."""
    agent = NetAgent("net", net_of(arch, setup), stochastic=stochastic)
    copy = copied(agent, setup, tmp_path)
    copy.stochastic = stochastic
    for turns in asked(setup, [agent, copy, agent, copy], 4, tables=16, steps=15):
        first, second = (one.act(turn, np.random.default_rng(5)) for one, turn in zip((agent, copy), turns[:2], strict=True))
        assert (first == second).all()
        shares = [one.probabilities(turn) for one, turn in zip((agent, copy), turns[2:], strict=True)]
        assert shares[1] == pytest.approx(shares[0], abs=1e-5)


def test_the_ladders_copy_plays_as_the_network() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    path = ROOT / "examples" / "ladder" / "entries" / "strong-1.onnx"
    agents = [load_agent("zoo:strong-1", setup), load(f"onnx:{path}", setup)]
    for turns in asked(setup, agents, 4, tables=40, steps=15):
        first, second = (agent.act(turn, np.random.default_rng(5)) for agent, turn in zip(agents, turns, strict=True))
        assert (first == second).all()


def test_a_copy_plays_rollouts_where_it_has_no_memory(tmp_path: Path) -> None:
    agent = NetAgent("net", net_of(MLP, SETUP))
    copy = copied(agent, SETUP, tmp_path)
    searches = [searching(agent, 3, SETUP), searching(copy, 3, SETUP)]
    assert len({edge_of(SETUP, [search, agent], 4, seed=2).mean for search in searches}) == 1
    with pytest.raises(ValueError, match="memory"):
        copied(NetAgent("net", net_of({**MLP, "recurrent": 5}, SETUP)), SETUP, tmp_path).scorer()


# ---- files of others -------------------------------------------------------------------------------------------------

WEIGHT = np.random.default_rng(0).standard_normal((SIZE, 24)).astype(np.float32)
FLOATS, LOGITS, LINEAR = f"float[K,{SIZE}] observation", "float[K,24] logits", "logits = MatMul(observation, weight)"
BYTES = "x = Cast<to = 1>(observation) logits = MatMul(x, weight)"


def policy(
    folder: Path, inputs: str = FLOATS, outputs: str = LOGITS, nodes: str = LINEAR, *, metadata: str = "", **weights: Any
) -> str:
    """The name of the player in a new file, by its text; ``metadata`` are those of our own files."""
    text = f'<ir_version: 7, opset_import: ["" : 13]> policy ({inputs}) => ({outputs}) {{ {nodes} }}'
    model = onnx.parser.parse_model(text)
    for name, weight in {"weight": WEIGHT, **weights}.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(weight), name))
    if metadata:
        helper.set_model_props(model, {KEY: metadata})
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    return f"onnx:{folder / 'policy.onnx'}"


@pytest.mark.parametrize("rows", ["K", 1], ids=str)
@pytest.mark.parametrize(("dtype", "nodes"), [("uint8", BYTES), ("float", LINEAR)], ids=["bytes", "floats"])
def test_observations_are_bytes_or_floats_of_them(rows: str | int, dtype: str, nodes: str, tmp_path: Path) -> None:
    """Also of a file for one decision at a time."""
    agent = load(policy(tmp_path, f"{dtype}[{rows},{SIZE}] observation", f"float[{rows},24] logits", nodes), SETUP)
    for (turn,) in asked(SETUP, [agent], 4, steps=5):
        assert agent.logits(turn) == pytest.approx(turn.observation.astype(np.float32) @ WEIGHT, rel=1e-4, abs=1e-4)


def with_state(units: str | int) -> dict[str, Any]:
    return {
        "inputs": f"{FLOATS}, float[K,{units}] state",
        "outputs": f"{LOGITS}, float[K,{units}] next_state",
        "nodes": f"{LINEAR} next_state = Identity(state)",
    }


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"outputs": f"float[K,{SIZE}] x", "nodes": "x = Identity(observation)"}, r"has \['x'\], and not 'logits' among x\."),
        ({"inputs": f"float[K,{SIZE}] obs", "nodes": "logits = MatMul(obs, weight)"},
         r"has \['obs'\], and not 'observation' among observation, mask, state\."),
        ({"inputs": f"int64[K,{SIZE}] observation", "nodes": BYTES},
         r"'observation' of .* is a tensor\(int64\) of .*, and not a tensor\(uint8\) or a tensor\(float\) of"),
        ({"inputs": "float[K,7] observation", "weight": np.zeros((7, 24), np.float32)},
         rf"'observation' of .* of the shape \['K', 7\], and not .* \(decisions, {SIZE}\)\."),
        ({"inputs": "float observation", "nodes": "logits = Mul(observation, weight)"},
         rf"'observation' of .* is .* of the shape \[\], and not .* \(decisions, {SIZE}\)\."),
        ({"outputs": "float[K,9] logits", "weight": WEIGHT[:, :9]},
         r"'logits' of .* is .* of the shape \['K', 9\], and not .* \(decisions, 24\)\."),
        ({"outputs": "float[K,A] logits", "nodes": "y = MatMul(observation, weight) logits = Compress<axis = 1>(y, few)",
          "few": np.arange(24) < 9},
         r"The output 'logits' of .* has the shape \(1, 9\), and not \(1, 24\): a row for each decision\."),
        ({"inputs": f"{FLOATS}, float[K,3] state"}, r"the input 'state' and the output 'next_state', which belong together\."),
        ({"inputs": f"{FLOATS}, float[K,24] mask"}, r"'mask' of .* is a tensor\(float\) of .*, and not a tensor\(bool\) of"),
        (with_state("units"), r"'state' of .* is .* \['K', 'units'\], and not .* \(decisions, 1 to 65,536 units\)\."),
        ({"metadata": "{"}, r"The metadata 'nainjaune' of .* do not say for which tables it is: "),
        ({"metadata": '{"game": "nain_jaune", "preset": "djeco"}'}, r"do not say for which tables it is: 'players'\."),
        ({"nodes": "logits = Reshape(observation, weight)", "weight": np.array([-1, 9])},
         r"policy\.onnx' cannot be computed: "),
    ],
    ids=range(13),
)  # fmt: skip
def test_a_file_that_is_no_policy_is_refused(others: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=says) as caught:
        load(policy(tmp_path, **others), SETUP)
    assert "policy.onnx'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_of_onnx_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello", encoding="utf-8")
    with pytest.raises(AgentError, match=r"text\.onnx' is no ONNX file that onnxruntime can load: "):
        load(f"onnx:{tmp_path / 'text.onnx'}", SETUP)
    with pytest.raises(AgentError, match=r"There is no file at '.*', which the player 'onnx:.*' names\."):
        load(f"onnx:{tmp_path}", SETUP)


def test_onnxruntime_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    says = re.escape(f"'onnxruntime', which is not installed: {install_command('onnx')}.")
    with pytest.raises(MissingLibraryError, match=says):
        load(policy(tmp_path), SETUP)


def test_weights_in_another_file_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not beside the file, which is the working directory here, either."""
    monkeypatch.chdir(tmp_path)
    model = onnx.load(policy(Path()).removeprefix("onnx:"))
    onnx.save_model(model, "x.onnx", save_as_external_data=True, location="x.bin", size_threshold=0)
    with pytest.raises(AgentError, match=r"x\.onnx' is no ONNX file that onnxruntime can load: "):
        load("onnx:x.onnx", SETUP)


@pytest.mark.parametrize(
    ("change", "setup", "says"),
    [
        ({}, small(4), r"was trained with 3 players, and here there are 4\."),
        ({}, small(payment="cards", stake=3),
         r"was trained under payment=points, stake=1, and this table has payment=cards, stake=3: .*"
         r"may lose any amount\. Export it for them, where its network is for all tables\."),
        ({"layout": {"fingerprint": ["0"]}}, SETUP, "was trained on another observation layout"),
        ({"actions": ["pass"]}, SETUP, "chooses among 1 actions, and here there are 24"),
    ],
    ids=["players", "rules", "layout", "actions"],
)  # fmt: skip
def test_our_files_play_at_their_tables_only(change: dict[str, Any], setup: Setup, says: str, tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, NetAgent("net", net_of(MLP, SETUP)), SETUP)
    model = onnx.load(path)
    model.metadata_props[0].value = json.dumps({**json.loads(model.metadata_props[0].value), **change})
    onnx.save(model, path)
    with pytest.raises(AgentError, match=says):
        load(f"onnx:{path}", setup)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_by_which_nothing_can_be_chosen_end_the_game(value: float, tmp_path: Path) -> None:
    nodes = "y = MatMul(observation, weight) logits = Add(y, bias)"
    agent = load(policy(tmp_path, nodes=nodes, bias=np.full(24, value, np.float32)), SETUP)
    (turn,) = next(asked(SETUP, [agent], 4))
    with pytest.raises(AgentError, match=rf"The best logit of 'onnx:.*' at table 0 is {value}: no action can be chosen by it\."):
        agent.act(turn, np.random.default_rng(1))
    if np.isnan(value):
        with pytest.raises(AgentError, match="is NaN in a rollout"):
            agent.scorer().logits(turn.observation)
