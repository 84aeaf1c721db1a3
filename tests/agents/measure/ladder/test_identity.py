"""What decides how an entry plays: code, and not what is written about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.measure.ladder.entries import Entry
from nainjaune_agents.measure.ladder.identity import code_of, identity
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env import make_setup
from nainjaune_env.core.spec import Setup
from tests.agents.measure.distributed.runs import save_run

CODE = '''"""A module."""

SIZE = 3
"""Of something."""


def double(x):
    """Returns twice ``x``."""
    # twice
    return 2 * x + len("""a
b""")
'''


def test_words_about_code_decide_nothing(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE, encoding="utf-8")
    code = code_of(path)
    path.write_text(CODE.replace("Of something", "Of\nanother").replace("# twice", "# two\n\n"), encoding="utf-8")
    assert code_of(path) == code == 'SIZE = 3\ndef double(x):\n    return 2 * x + len("""a\nb""")'
    path.write_text(CODE.replace("2 *", "3 *"), encoding="utf-8")
    assert code_of(path) != code
    path = tmp_path / "en.toml"  # no Python, and no comment
    path.write_text('rules-text = """\n# Rules\n"""\n', encoding="utf-8")
    assert code_of(path) == path.read_text(encoding="utf-8")


def test_names_tables_and_files_decide(tmp_path: Path) -> None:
    four, three = make_setup(), make_setup(players=3)

    def of(agent: str, setup: Setup = four, **others: str) -> str:
        return identity(Entry("x", tmp_path, "x", "us", agent, (), **others), setup, BotSettings())

    assert of("closer") == of("closer") == of("closer", description="y")
    assert len({of("closer"), of("tally"), of("closer@search=5"), of("zoo:strong-1"), of("zoo:strong-1", three)}) == 5
    (tmp_path / "a.onnx").write_bytes(b"1")
    first = of("onnx:a.onnx")
    (tmp_path / "a.onnx").write_bytes(b"2")
    assert of("onnx:a.onnx") != first


def test_what_an_entry_is_made_of_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The members of a mixed field and the agent of rollouts, whose file is in the current folder; clocks of bots alone."""
    setup = make_setup(players=3)

    def of(agent: str, bots: BotSettings | None = None) -> str:
        return identity(Entry("x", tmp_path, "x", "us", agent, ()), setup, bots or BotSettings())

    monkeypatch.chdir(tmp_path)
    names = "mixed:./run+closer", "closer@search=4,rollouts=run", "closer", "mixed:tally+closer"
    before = []
    for iteration in range(2):
        save_run(tmp_path / "run", iteration)
        before.append([of(name) for name in names])
    assert [one == other for one, other in zip(*before, strict=True)] == [False, False, True, True]
    (tmp_path / "bot.sh").write_text("true\n", encoding="utf-8")
    quick = BotSettings(decision_seconds=0.01)
    assert of("exec:sh bot.sh", quick) != of("exec:sh bot.sh")
    assert of("closer", quick) == of("closer")
