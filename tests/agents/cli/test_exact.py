"""The command that computes exactly: its numbers are the library's, and every error is a sentence."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.players.exact.batasaurus import solve
from nainjaune_agents.players.loading import load_agent, setup_of_runs
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import BestResponseGains, best_response_gains
from nainjaune_agents.study.exact.tree import build_tree
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, nainjaune, output_of, refused
from tests.agents.players.networks.test_checkpoint import make

GAME = "--preset batasaurus --players 2 --set memory=perfect"


def perfect(dinosaurs: int, players: int = 2) -> Setup:
    return make_setup("batasaurus", players=players, memory="perfect", dinosaurs=dinosaurs)


def of_agent(setup: Setup, name: str) -> BestResponseGains:
    written = build_tree(setup)
    return best_response_gains(written, tabular(written, load_agent(name, setup), np.random.default_rng(0)))


@pytest.mark.slow
@pytest.mark.parametrize("dinosaurs", [3, 4])
def test_the_numbers_are_the_librarys(dinosaurs: int, capfd: Capture) -> None:
    names = ["random", "highest", "exact"]
    words = f"{GAME} --set dinosaurs={dinosaurs} --agents {' '.join(names)} --out deep/x"
    out = output_of(capfd, f"exact {words}")
    setup, written = perfect(dinosaurs), build_tree(perfect(dinosaurs))
    assert f"Tree: {written.size:,} nodes, {written.num_infosets:,} information sets, 2 openings." in out
    assert f"memory = perfect, dinosaurs = {dinosaurs}." in out
    payload = json.loads(Path("deep/x/exact.json").read_text(encoding="utf-8"))
    assert {key: payload[key] for key in setup.to_dict()} == setup.to_dict()
    assert (payload["unit"], payload["seed"], payload["cfr"]) == ("cards", 0, None)
    assert payload["tree"] == {"nodes": written.size, "infosets": written.num_infosets, "openings": 2}
    assert payload["solved"]["value"] == solve(dinosaurs).value / 2
    table = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line and line.split()[0] in names}
    assert list(table) == names
    for row in payload["agents"]:
        gains = of_agent(setup, row["agent"])
        assert row["exploitability"] == gains.mean_gain == gains.nash_conv / 2
        assert row["nash_conv"] == gains.nash_conv
        assert [row["values"], row["responses"], row["gains"]] == [
            part.tolist() for part in (gains.values, gains.responses, gains.gains)
        ]
        numbers = [gains.mean_gain, gains.nash_conv, *gains.gains, *row["values_in_order"]]
        assert [float(cell.replace("−", "-")) for cell in table[row["agent"]]] == pytest.approx(numbers, abs=1e-6)
    assert payload["agents"][0]["exploitability"] > 0.5
    assert payload["agents"][2]["exploitability"] == pytest.approx(0, abs=1e-12)
    value = solve(dinosaurs).value / 2
    assert payload["agents"][2]["values_in_order"] == pytest.approx([value, -value], abs=1e-12)


def test_the_files(capfd: Capture) -> None:
    words = f"{GAME} --set dinosaurs=3 --first 0 --agents random cheapest --iterations 20 --out x"
    status, out, _ = nainjaune(capfd, f"exact {words}")
    assert (status, out.rstrip().endswith("Numbers: x/exact.json")) == (0, True)
    assert os.listdir("x") == ["exact.json"]
    payload = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))
    assert (payload["first"], 2 * payload["tree"]["nodes"]) == (0, build_tree(perfect(3)).size)
    assert [payload[key] for key in ("game", "preset", "players", "unit")] == ["batasaurus", "batasaurus", 2, "cards"]
    assert [row["agent"] for row in payload["agents"]] == ["random", "cheapest", "(CFR+ 20)"]
    refused(capfd, f"exact {words}", r"'x/exact\.json' exists, and is not overwritten: choose another --out\.")
    assert json.loads(Path("x/exact.json").read_text(encoding="utf-8")) == payload


def test_cfr_falls(capfd: Capture) -> None:
    out = output_of(capfd, f"exact {GAME} --set dinosaurs=4 --iterations 95 --out x")
    cfr = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))["cfr"]
    assert cfr["iterations"] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 95]
    gains = cfr["exploitability"]
    assert gains == sorted(gains, reverse=True)
    assert 0 < gains[-1] < gains[0] / 50
    assert f"{gains[-1]:.9f}" in out
    assert f"(CFR+ 95)  {gains[-1]:14.6f}" in out


@pytest.mark.parametrize(
    ("rules", "agent", "printed"),
    [
        ("--players 2 --set ranks=5 --set suits=2 --set hand=2 --agents lowest", "lowest", ["+3.542063", "−3.542063"]),
        (
            "--players 3 --set ranks=4 --set suits=2 --set hand=2 --first 0 --iterations 1000", "(CFR+ 1000)",
            ["+12.746021", "−6.232534", "−6.513487"],
        ),
    ],
)  # fmt: skip
def test_values_count_openings_that_the_seat_that_begins_does_not_decide(
    rules: str, agent: str, printed: list[str], capfd: Capture
) -> None:
    """The first numbers are also OpenSpiel's 2.0.2."""
    out = output_of(capfd, f"exact --preset djeco {rules} --out x")
    (row,) = [line for line in out.splitlines() if line.startswith(agent)]
    assert row.split()[-len(printed) :] == printed
    numbers = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))["agents"][0]["values_in_order"]
    assert numbers == pytest.approx([float(text.replace("−", "-")) for text in printed], abs=1e-6)
    assert sum(numbers) == pytest.approx(0, abs=1e-9)
    row = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))["agents"][0]
    assert (row["exploitability"] is None) == (len(printed) == 3)  # a word for two seats


def test_runs_are_measured_under_their_own_rules(capfd: Capture) -> None:
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(perfect(3)))
    out = output_of(capfd, "exact --agents runs/a runs/a@sample random --out x")
    assert "memory = perfect, dinosaurs = 3." in out
    payload = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))
    assert [row["agent"] for row in payload["agents"]] == ["runs/a", "runs/a@sample", "random"]
    assert all(math.isfinite(row["exploitability"]) and row["exploitability"] > 0 for row in payload["agents"])
    assert payload["agents"][0]["exploitability"] != payload["agents"][1]["exploitability"]
    refused(
        capfd, f"exact {GAME} --set dinosaurs=4 --agents runs/a", "trained under dinosaurs=3, and this table has dinosaurs=4: "
    )
    assert nainjaune(capfd, f"exact {GAME} --set dinosaurs=4 --agents runs/a@transfer")[0] == 0


def test_solve_prints_every_size(capfd: Capture) -> None:
    out = output_of(capfd, f"exact {GAME} --solve --out x")
    sizes = json.loads(Path("x/exact.json").read_text(encoding="utf-8"))["sizes"]
    assert [row["dinosaurs"] for row in sizes] == list(range(2, 13))
    printed = {line.split()[0]: line.split()[1:] for line in out.splitlines() if re.match(r" +\d", line)}
    for row in sizes:
        value = solve(row["dinosaurs"]).value
        assert row["value"] == value / 2
        assert [float(cell.replace("−", "-")) for cell in printed[str(row["dinosaurs"])][:2]] == pytest.approx(
            [value / 2, value], abs=1e-12
        )
    assert printed["12"] == ["−0.461013475407", "−0.922026950813", "113,257", "8"]
    assert printed["5"][1] == f"−{62 / 655:.12f}"
    assert printed["2"] == ["+0.000000000000", "+0.000000000000", "5", "1", "2"]


# ---------------------------------------------------------------- the solution as an agent


def test_a_name_goes_before_a_folder_of_its_name() -> None:
    save_checkpoint(Path("exact") / FILE_NAME, make(perfect(3)))
    assert setup_of_runs(["exact"], "batasaurus") is None
    assert setup_of_runs(["./exact"], "nain_jaune") is not None


def test_sizes_are_bounded_from_above() -> None:
    """What the hint about a shorter game rests on."""
    from nainjaune_agents.players.exact.batasaurus import max_nodes, sizes

    setups = [perfect(3), perfect(4), perfect(3, 3), perfect(2, 4), make_setup("batasaurus", players=2, dinosaurs=3)]
    for setup in setups:
        assert max_nodes(setup) / 4 < build_tree(setup).size <= max_nodes(setup)
    assert [replace(perfect(12), rules=perfect(12).rules.replace(**knobs)) for knobs in sizes(perfect(12))] == [
        perfect(dinosaurs) for dinosaurs in range(2, 13)
    ]
