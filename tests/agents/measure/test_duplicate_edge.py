"""The edge of any two players, in one call."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import pyplot

from nainjaune_agents import edge
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import mean_of_deals
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_env.agent_adapters import as_agent
from nainjaune_env.core.errors import AgentError, DealError, KeywordError, RulesError
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small

TABLE: dict[str, Any] = {"preset": "djeco", "players": 3}
SETUP = make_setup(**TABLE)


def first(observation: Any, mask: Any) -> Any:
    return mask.argmax(axis=-1)


@pytest.fixture(autouse=True)
def no_figures() -> Any:
    yield
    pyplot.close("all")


def test_it_is_the_edge_of_duplicate_play() -> None:
    found = edge(first, "tally", deals=50, seed=3, **TABLE)
    expected = FieldAlone(OwnGame(SETUP, 3), load_agent("tally", SETUP), 50).edge(as_agent(first, SETUP))
    assert (found.mean, found.ci95) == (expected.mean, expected.ci95)
    assert [stats.mean for stats in found.edge.by_seat] == [stats.mean for stats in expected.by_seat]
    assert found.result.source.setup == SETUP
    said, where, *_ = str(found).splitlines()
    assert said == f"first in a field of tally: {mean_of_deals(found.edge.moments)} chips a round beyond that field."
    assert where == "95 % interval; Nain Jaune, preset djeco, 3 players, 50 deals, seed 3."
    assert repr(found) == str(found)


def test_every_kind_of_player_on_both_sides() -> None:
    class Net(torch.nn.Module):
        def forward(self, observation: Any) -> Any:
            return -torch.arange(24.0).expand(len(observation), -1)

    class First:
        def act(self, decisions: Any, rng: Any) -> Any:
            return decisions.mask.argmax(axis=1)

    for other in (Net(), First, First(), lambda setup: First()):
        assert edge(first, other, deals=10, **TABLE).edge.moments.differing == 0  # type: ignore[arg-type]
    same = edge(first, first, deals=10, **TABLE)
    assert "+0.000 (0 of 10 deals differ)" in str(same)
    assert str(same).endswith("too few deals differ for one (docs/evaluation.md).")
    assert "0 of 10 deals differ" in same._repr_html_()
    alone = edge("tally", "tally", deals=10, **TABLE)
    assert (alone.mean, alone.edge.field_name) == (0, "tally (the field)")


@pytest.mark.slow
def test_workers_do_not_run_a_script_again(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    call = 'edge("tally", "random", deals=10, workers=2, preset="djeco", players=2)'
    script.write_text(f"from nainjaune_agents import edge\n\nprint({call}.result.source.setup.players)\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_both_ways_say_who_is_stronger_and_workers_change_nothing() -> None:
    found = edge("tally", "random", deals=60, both_ways=True, workers=2, **TABLE)
    assert repr(found) == repr(edge("tally", "random", deals=60, both_ways=True, **TABLE))
    one, other, advantage, *_ = str(found).splitlines()
    assert one.startswith("tally in a field of random: +")
    assert other.startswith("random in a field of tally: −")
    assert advantage.startswith("tally is stronger: the advantage, half the difference, is +")
    assert "Neither is significantly stronger: " in str(edge("tally", first, deals=4, both_ways=True, **TABLE))


def test_the_rules_are_those_of_the_run_unless_others_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_checkpoint(Path("run", FILE_NAME), make(small()))
    assert edge("run", first, deals=4).result.source.setup.to_dict() == small().to_dict()
    assert edge(first, "tally", deals=4, preset="skip").result.source.setup == make_setup(preset="skip")
    assert edge(first, "random", deals=4, game="batasaurus", players=2).result.source.setup == make_setup("batasaurus", players=2)
    assert edge(first, "tally", deals=4).result.source.setup == make_setup()


def test_a_picture_by_the_distance_from_the_seat_that_acts_first() -> None:
    found = edge(first, "random", deals=20, **TABLE)
    page = found._repr_html_()
    assert page.startswith("<p><b>first in a field of random: +")
    labels = ["all seats", "acts first", "1 seat later", "2 seats later"]
    for text in (*labels, *(mean_of_deals(stats) for stats in found.edge.by_seat)):
        assert f">{text}</text>" in page
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == labels
    points = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1]  # type: ignore[arg-type, index]
    assert set(np.round([found.mean, *(stats.mean for stats in found.edge.by_seat)], 9)) <= set(np.round(points, 9))
    with matplotlib.rc_context({"text.parse_math": True}):
        renamed = edge(as_agent(first, SETUP, "$x<y$"), "random", deals=20, **TABLE)
        renamed.plot().figure.savefig(io.BytesIO())
    assert "<b>$x&lt;y$ in a field of random" in renamed._repr_html_()


def test_progress_is_shown_where_somebody_sees_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(**options: Any) -> str:
        edge(first, "tally", deals=10, **TABLE, **options)
        return capsys.readouterr().err

    assert shown() == ""  # no terminal
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=True, config={}))
    assert "deal" in shown()
    assert shown(progress=False) == ""


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"field": None}, AgentError, "or a torch module, not None"),
        ({"field": "tallyy"}, AgentError, "Did you mean 'tally'"),
        ({"deals": 1}, DealError, r"The number of deals is at least 2, not 1\."),
        ({"workers": 0}, DealError, r"The number of workers is at least 1, not 0\."),
        (
            {"workers": 2},
            AgentError,
            r"by their names, such as 'bot\.py:make_agent', and <function first .* is no name: leave out",
        ),
        ({"player": "tally", "workers": 2}, AgentError, r"'tally' is there twice: leave out workers\."),
        ({"both_ways": b"x"}, RulesError, r"^both_ways is True or False, not b'x'\.$"),
        ({"progress": "no"}, RulesError, r"^progress is True or False, not 'no'\.$"),
        ({"deal": 3}, KeywordError, "unexpected keyword argument 'deal'"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        edge(**{"player": first, "field": "tally", **arguments})
