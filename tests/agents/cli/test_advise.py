"""``nainjaune advise``: a position written or on a record, advice as a table and as JSON, errors as sentences."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.advise import FIELDS
from nainjaune_agents.cli.main import main
from tests.agents.cli.command import Capture, nainjaune, output_of
from tests.support.source import ROOT

HAND = "A 2 3 3 5 7♦ 8 9 10 10 V♣ D"


def test_in_french_and_in_colours(capfd: Capture) -> None:
    words = "--hand 2 7 7♦ 8 9 9 10 V♣ D --moves 3: A 2 0: 3 4 5 2: 6 --model lowest --deals 50 --lang fr --color always"
    out = output_of(capfd, f"advise {words}")
    assert out.startswith("djeco, manche 1, place 0 sur 4 — 7 demandé, et vous pouvez passer\n")
    assert "passer" in out
    assert "\x1b[31m7♦\x1b[0m" in out
    assert "certain  place 2 sans 7 · place 3 sans 3" in out


def test_json_says_all(capfd: Capture) -> None:
    out = output_of(capfd, f"advise --hand {HAND} --model tally --agents lowest random lowest --deals 100 --json")
    payload = json.loads(out)
    assert payload["model"] == ["tally", "lowest", "random", "lowest"]
    assert payload["position"] == {"hand": HAND}
    assert (payload["kind"], payload["unit"], payload["lacks"]) == ("lead", "chips", {})
    assert payload["best"] == payload["moves"][0]["move"]
    assert payload["moves"][0]["behind"] is None
    assert sorted(move["move"] for move in payload["moves"]) == sorted(["A", "2", "3", "5", "7d", "8", "9", "T", "Jc", "Q"])
    for move in payload["moves"]:
        assert set(move["chances"]) == {"out", "captured", "stranded"}
        assert set(move["chances"]["captured"]) == {"10♦", "J♣", "Q♠", "K♥", "7♦"}
        assert sum(part["mean"] for part in move["sources"].values()) == pytest.approx(move["payoff"]["mean"], abs=1e-3)
        assert move["payoff"]["ci95"] > 0
    assert all(move["reason"] for move in payload["moves"][1:])


def test_a_move_of_a_record_and_the_same_in_writing(capfd: Capture, file: Path) -> None:
    """What JSON says of a recorded position, written out, is the same position; so is the advice, but for the cards drawn."""
    out = output_of(capfd, f"advise --record {file} --match 2 --round 2 --move 1 --model tally --deals 60 --json")
    recorded: dict[str, Any] = json.loads(out)
    words = " ".join(f"--{name} {text}" for name, text in recorded["position"].items())
    status, out, err = nainjaune(
        capfd, f"advise --preset classic --players 4 --set max_rounds=2 {words} --model tally --deals 60 --json"
    )
    assert (status, err) == (0, "")
    written = json.loads(out)
    assert written["position"] == recorded["position"]
    assert set(recorded["position"]) <= set(FIELDS)
    assert {move["move"] for move in written["moves"]} == {move["move"] for move in recorded["moves"]}
    assert (written["lacks"], written["kind"], written["seat"]) == (recorded["lacks"], recorded["kind"], recorded["seat"])


def test_the_page_shows_what_is_shown(capfd: Capture) -> None:
    """Of what heuristics play, which depends on no network and no machine."""
    page = (ROOT / "docs" / "advise.md").read_text(encoding="utf-8")
    screens = re.findall(r"```text\n\$ nainjaune advise ([^\n]*--model tally[^\n]*)\n(.*?)```", page, re.DOTALL)
    assert len(screens) == 2
    for words, text in screens:
        assert main(["advise", *shlex.split(words)]) == 0
        out, shown = capfd.readouterr().out, text.removeprefix("  …\n")
        assert out == text or (shown != text and f"\n{shown}" in out)
