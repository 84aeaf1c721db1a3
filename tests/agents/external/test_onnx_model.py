"""ONNX files as players: our own play as the network does, others by the documented names; all else is refused in a sentence."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.external.onnx_model import OnnxAgent, files, load
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.nets.onnx_export import write_onnx
from nainjaune_agents.nets.onnx_format import KEY
from nainjaune_agents.search import searching
from nainjaune_env.core.errors import AgentError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.agents.nets.inference.test_inference import SETUPS, both, each
from tests.agents.nets.test_onnx_export import net_of
from tests.support.positions import asked, small
from tests.support.source import ROOT

FLOAT = TensorProto.FLOAT
SIZE = small().layout.size
MLP: dict[str, Any] = {"name": "mlp", "hidden": [12]}
GRU: dict[str, Any] = {"name": "mlp", "hidden": [12], "recurrent": 5}


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


def test_a_copy_of_a_network_on_an_earlier_layout_plays_on() -> None:
    """The ladder's file was exported before ``passed`` was added to the layout."""
    setup = make_setup("nain_jaune", "djeco", 4)
    path = ROOT / "examples" / "ladder" / "entries" / "strong-1.onnx"
    about = json.loads({entry.key: entry.value for entry in onnx.load(path).metadata_props}[KEY])
    assert about["layout"]["fingerprint"] in setup.layout.earlier
    agents = [load_agent("zoo:strong-1", setup), load(f"onnx:{path}", setup)]
    for turns in asked(setup, agents, 4, tables=40, steps=15):
        first, second = (agent.act(turn, np.random.default_rng(5)) for agent, turn in zip(agents, turns, strict=True))
        assert (first == second).all()
    assert setup.layout.view(turns[0].observation, "passed").any()


def test_a_copy_is_rated_and_plays_rollouts(tmp_path: Path) -> None:
    setup = small()
    agent = NetAgent("net", net_of(MLP, setup))
    copy = copied(agent, setup, tmp_path)
    agents = [agent, copy, searching(agent, 3, setup), searching(copy, 3, setup)]
    duplicate = Duplicate(setup, agents, seed=2)
    assert duplicate.edge(1, 0, 20).mean == 0.0
    searched = [duplicate.edge(number, 0, 4) for number in (2, 3)]
    assert searched[0].mean == searched[1].mean


def test_a_policy_with_memory_plays_no_rollouts(tmp_path: Path) -> None:
    setup = small()
    with pytest.raises(ValueError, match="memory"):
        copied(NetAgent("net", net_of(GRU, setup)), setup, tmp_path).scorer()


# ---- files of others -------------------------------------------------------------------------------------------------

Arrays = Mapping[str, tuple[int, list[Any]]]
"""Names -> types and shapes."""


def written(
    folder: Path, inputs: Arrays, outputs: Arrays, nodes: list[onnx.NodeProto], metadata: Any = None, **weights: Any
) -> str:
    """The name of the player in a new file; ``metadata`` are those of our own files."""
    graph = helper.make_graph(
        nodes,
        "policy",
        *([helper.make_tensor_value_info(name, *about) for name, about in given.items()] for given in (inputs, outputs)),
        [numpy_helper.from_array(np.asarray(weight), name) for name, weight in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    if metadata is not None:
        helper.set_model_props(model, {KEY: metadata if isinstance(metadata, str) else json.dumps(metadata)})
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    return f"onnx:{folder / 'policy.onnx'}"


def policy(folder: Path, setup: Setup, *, dtype: int = TensorProto.UINT8, rows: Any = "K", **others: Any) -> str:
    """A linear policy of the observation; ``others`` are arguments of :func:`written`."""
    size, actions = setup.layout.size, len(setup.game.actions)
    weight = np.random.default_rng(0).standard_normal((size, actions)).astype(np.float32)
    given: dict[str, Any] = {
        "inputs": {"observation": (dtype, [rows, size])},
        "outputs": {"logits": (TensorProto.FLOAT, [rows, actions])},
        "nodes": [
            helper.make_node("Cast", ["observation"], ["x"], to=TensorProto.FLOAT),
            helper.make_node("MatMul", ["x", "weight"], ["logits"]),
        ],
        "weight": weight,
    }
    return written(folder, **given | others)


@pytest.mark.parametrize("rows", ["K", 1], ids=str)
@pytest.mark.parametrize("dtype", [TensorProto.UINT8, TensorProto.FLOAT])
def test_observations_are_bytes_or_floats_of_them(rows: Any, dtype: int, tmp_path: Path) -> None:
    """Also of a file for one decision at a time."""
    (setup, _) = SETUPS
    agent = load(policy(tmp_path, setup, dtype=dtype, rows=rows), setup)
    weight = np.random.default_rng(0).standard_normal((setup.layout.size, 24)).astype(np.float32)
    for (turn,) in asked(setup, [agent], 4, steps=5):
        assert agent.logits(turn) == pytest.approx(turn.observation.astype(np.float32) @ weight, rel=1e-4, abs=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the exporter that needs no package beyond onnx
def test_an_export_of_torch_plays(tmp_path: Path) -> None:
    """By torch's exporter, with outputs whose shapes are not written down."""
    setup = small()
    net = torch.nn.Sequential(torch.nn.Linear(SIZE, 16), torch.nn.Tanh(), torch.nn.Linear(16, 24))
    path = tmp_path / "torch.onnx"
    names = {"input_names": ["observation"], "output_names": ["logits"]}
    torch.onnx.export(net, (torch.zeros(2, SIZE),), str(path), dynamo=False, dynamic_axes={"observation": {0: "K"}}, **names)
    agent = load(f"onnx:{path}", setup)
    for (turn,) in asked(setup, [agent], 4, steps=5):
        assert agent.logits(turn) == pytest.approx(net(torch.from_numpy(turn.observation).float()).detach().numpy(), abs=1e-5)


def with_state(units: int | str) -> dict[str, Any]:
    """A policy with memory."""
    return {
        "inputs": {"observation": (FLOAT, ["K", SIZE]), "state": (FLOAT, ["K", units])},
        "outputs": {"logits": (FLOAT, ["K", 24]), "next_state": (FLOAT, ["K", units])},
        "nodes": [
            helper.make_node("MatMul", ["observation", "weight"], ["logits"]),
            helper.make_node("Identity", ["state"], ["next_state"]),
        ],
    }


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"outputs": {"x": (FLOAT, ["K", SIZE])}}, r"has \['x'\], and not 'logits' among x\."),
        ({"inputs": {"obs": (TensorProto.UINT8, ["K", SIZE])}, "nodes": [
            helper.make_node("Cast", ["obs"], ["x"], to=FLOAT), helper.make_node("MatMul", ["x", "weight"], ["logits"]),
        ]}, r"has \['obs'\], and not 'observation' among observation, mask, state\."),
        ({"dtype": TensorProto.INT64},
         r"'observation' of .* is a tensor\(int64\) of .*, and not a tensor\(uint8\) or a tensor\(float\) of"),
        ({"inputs": {"observation": (FLOAT, ["K", 7])}, "weight": np.zeros((7, 24), np.float32)},
         rf"'observation' of .* of the shape \['K', 7\], and not .* \(decisions, {SIZE}\)\."),
        ({"rows": 3}, rf"of the shape \[3, {SIZE}\], and not"),
        ({"outputs": {"logits": (FLOAT, ["K", 9])}, "weight": np.zeros((SIZE, 9), np.float32)},
         r"'logits' of .* is .* of the shape \['K', 9\], and not .* \(decisions, 24\)\."),
        ({"outputs": {"logits": (FLOAT, ["K", "A"])}, "few": np.arange(24) < 9, "nodes": [
            helper.make_node("Cast", ["observation"], ["x"], to=FLOAT), helper.make_node("MatMul", ["x", "weight"], ["y"]),
            helper.make_node("Compress", ["y", "few"], ["logits"], axis=1),
        ]},
         r"The output 'logits' of .* has the shape \(1, 9\), and not \(1, 24\): a row for each decision\."),
        ({"inputs": {"observation": (FLOAT, ["K", SIZE]), "state": (FLOAT, ["K", 3])}},
         r"only one of the input 'state' and the output 'next_state', which belong together\."),
        ({"inputs": {"observation": (FLOAT, ["K", SIZE]), "mask": (FLOAT, ["K", 24])}},
         r"'mask' of .* is a tensor\(float\) of .*, and not a tensor\(bool\) of"),
        (with_state("units"), r"'state' of .* is .* \['K', 'units'\], and not .* \(decisions, 1 to 65,536 units\)\."),
        (with_state(1 << 40), r"'state' of .* is .* 1099511627776\], and not .* \(decisions, 1 to 65,536 units\)\."),
        ({"inputs": {"observation": (FLOAT, [])}, "nodes": [helper.make_node("Mul", ["observation", "weight"], ["logits"])]},
         rf"'observation' of .* is .* of the shape \[\], and not .* \(decisions, {SIZE}\)\."),
        ({"metadata": "{"}, r"The metadata 'nainjaune' of .* do not say for which tables it is: "),
        ({"metadata": {"game": "whist"}}, r"do not say for which tables it is: Unknown game 'whist'"),
        ({"metadata": {"game": "nain_jaune", "preset": "djeco"}}, r"do not say for which tables it is: 'players'\."),
        ({"nodes": [helper.make_node("Reshape", ["observation", "weight"], ["logits"])], "weight": np.array([-1, 9])},
         r"no ONNX file that onnxruntime can load: "),
    ],
    ids=range(16),
)  # fmt: skip
def test_a_file_that_is_no_policy_is_refused(others: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=says) as caught:
        load(policy(tmp_path, small(), **others), small())
    assert "policy.onnx'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_of_onnx_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello", encoding="utf-8")
    with pytest.raises(AgentError, match=r"text\.onnx' is no ONNX file that onnxruntime can load: "):
        load(f"onnx:{tmp_path / 'text.onnx'}", small())
    for name in ("none.onnx", ""):
        with pytest.raises(AgentError, match=r"There is no file at '.*', which the player 'onnx:.*' names\."):
            load(f"onnx:{tmp_path / name}", small())


def test_onnxruntime_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = policy(tmp_path, small())
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        MissingLibraryError, match=re.escape(f"'onnxruntime', which is not installed: {install_command('onnx')}.")
    ):
        load(name, small())


@pytest.mark.parametrize("here", [False, True], ids=["elsewhere", "in the working directory"])
def test_weights_in_another_file_are_not_read(here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if here:
        monkeypatch.chdir(tmp_path)
    model = onnx.load(files(policy(tmp_path, small()))[0])
    onnx.save_model(model, str(tmp_path / "x.onnx"), save_as_external_data=True, location="x.bin", size_threshold=0)
    with pytest.raises(AgentError, match=r"x\.onnx' is no ONNX file that onnxruntime can load: "):
        load(f"onnx:{tmp_path / 'x.onnx'}", small())


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (make_setup("batasaurus", None, 2), r"plays 'nain_jaune', and this table is for 'batasaurus'\."),
        (small(4), r"was trained with 3 players, and here there are 4\."),
        (small(payment="cards", stake=3),
         r"was trained under payment=points, stake=1, and this table has payment=cards, stake=3: .*"
         r"may lose any amount\. Export it for them, where its network is for all tables\."),
    ],
    ids=["game", "players", "rules"],
)  # fmt: skip
def test_our_files_play_at_their_tables_only(setup: Setup, says: str, tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, NetAgent("net", net_of(MLP, small())), small())
    with pytest.raises(AgentError, match=says):
        load(f"onnx:{path}", setup)


@pytest.mark.parametrize("fingerprint", ["0" * 16, ["0"], {"0": 0}, None], ids=str)
def test_another_layout_is_refused(fingerprint: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    write_onnx(path, NetAgent("net", net_of(MLP, small())), small())
    model = onnx.load(path)
    about = json.loads(model.metadata_props[0].value)
    about["layout"]["fingerprint"] = fingerprint
    model.metadata_props[0].value = json.dumps(about)
    onnx.save(model, path)
    with pytest.raises(AgentError, match="was trained on another observation layout"):
        load(f"onnx:{path}", small())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_by_which_nothing_can_be_chosen_end_the_game(value: float, tmp_path: Path) -> None:
    """The sentence has the table; an illegal action may have any logit."""
    setup = small()
    name = policy(
        tmp_path,
        setup,
        nodes=[
            helper.make_node("Cast", ["observation"], ["x"], to=FLOAT),
            helper.make_node("MatMul", ["x", "weight"], ["y"]),
            helper.make_node("Add", ["y", "bias"], ["logits"]),
        ],
        bias=np.full(24, value, np.float32),
    )
    agent = load(name, setup)
    (turn,) = next(asked(setup, [agent], 4))
    with pytest.raises(AgentError, match=rf"The best logit of 'onnx:.*' at table 0 is {value}: no action can be chosen by it\."):
        agent.act(turn, np.random.default_rng(1))
    if np.isnan(value):
        with pytest.raises(AgentError, match="is NaN in a rollout"):
            agent.scorer().logits(turn.observation)
