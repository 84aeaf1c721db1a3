"""The gain left to a search: it is that of ``exploit``'s last step, resumes, and goes onto a card."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from nainjaune_agents.measure.best_response import best_response_gap
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.zoo import PlayerRegistry, load_card
from nainjaune_env import make_setup
from nainjaune_env.core.errors import ConfigError
from tests.agents.players.zoo.boxes import put
from tests.benchmarks.commands import command, module
from tests.support.positions import small

search_gain = module("search_gain")
pytestmark = pytest.mark.usefixtures("elsewhere")


LINE = "zoo:strong --search 2 --tables skip:2 djeco:2 --deals 6 --seed 6 --out gain"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_gains_of_two_tables_and_their_resumption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_gain, "CHUNK", 4)
    first = command("search_gain", *LINE.split())
    assert first.returncode == 0
    assert first.stdout.count("\n| `") == 2
    results = json.loads(Path("gain/skip-2/gain.json").read_text(encoding="utf-8"))
    setup, name = make_setup(None, "skip", 2), "zoo:strong@search=2,inference=policy"
    gap = best_response_gap(
        OwnGame(setup, 6), load_agent("zoo:strong", setup), [load_agent(name, setup)], deals=6, choosing=0, chunk=4
    )
    assert results["responder"] == name
    assert (results["gain"], results["duplicate"]) == (gap.gain.mean, gap.to_dict()["duplicate"])
    assert search_gain.row("skip:2", gap) in first.stdout
    shutil.rmtree("gain/djeco-2")
    rows = [*Path("gain/skip-2/rows").iterdir()]
    assert command("search_gain", *LINE.split()).stdout == first.stdout
    assert [*Path("gain/skip-2/rows").iterdir()] == rows  # nothing was played


def test_a_card_has_one_gain_a_table_and_search(tmp_path: Path) -> None:
    path = put(tmp_path, "a", small(), "classic-3").with_suffix(".json")
    (player,) = PlayerRegistry(tmp_path).players("a")
    target, responder = (load_agent(name, small()) for name in ("tally", "lowest"))
    for deals, seed in ((30, 1), (40, 2)):
        gap = best_response_gap(OwnGame(small(), seed), target, [responder], deals=deals, choosing=0)
        search_gain.put_on_card(player, small(), "a@search=2,inference=policy", gap, seed)
    (gain,) = load_card(path).search_gains
    assert (gain.search, gain.field, gain.deals, gain.seed) == ("search=2,inference=policy", "zoo:a", 40, 2)
    assert (gain.mean, gain.ci95) == (round(gap.gain.mean, 4), round(gap.gain.ci95, 4))
    few = best_response_gap(OwnGame(small(), 1), target, [responder], deals=10, choosing=0)
    assert math.isnan(few.gain.ci95)
    with pytest.raises(ConfigError, match="play more --deals"):
        search_gain.put_on_card(player, small(), "a@search=2,inference=policy", few, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("zoo:strong --tables skip", "A table is a preset and its seats, as skip:2, not 'skip'."),
        ("zoo:strong --tables skip:9", "9"),
        ("tally --tables skip:2", "needs the probabilities of actions, so a network, not 'tally'"),
        ("zoo:strong --tables skip:2 --deals 1", "from 2 to"),
    ],
)
def test_what_is_refused(words: str, says: str) -> None:
    done = command("search_gain", *words.split(), "--out", "gain")
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert not Path("gain").exists()
