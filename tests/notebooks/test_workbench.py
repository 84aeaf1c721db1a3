"""What the notebooks share: amounts, and work that is kept."""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
from pathlib import Path

import pytest

from nainjaune_env.core.errors import ConfigError
from tests.support.example import run_example

from .cells import as_in_a_notebook


def run(code: str, kept: Path, size: str = "small") -> str:
    """What ``code`` prints where a notebook begins."""
    printed = io.StringIO()
    with as_in_a_notebook(kept, size), contextlib.redirect_stdout(printed):
        run_example(code, "a notebook")
    return printed.getvalue()


@pytest.mark.slow
def test_work_is_done_once_for_each_of_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions are in files: what is kept goes by their text."""
    module = tmp_path / "kept_work.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    body = "def work(n):\n    print('worked', n)\n    return [n, None, 0.5]\n"
    module.write_text(body, encoding="utf-8")
    code = "from kept_work import work\nfrom workbench import kept\nprint(kept(work, n=1), kept(work, n=2), kept(work, n=1))"
    assert run(code, tmp_path / "kept").splitlines() == [
        "worked 1", "worked 2", "[1, None, 0.5] [2, None, 0.5] [1, None, 0.5]"
    ]  # fmt: skip
    assert run(code, tmp_path / "kept").splitlines() == ["[1, None, 0.5] [2, None, 0.5] [1, None, 0.5]"]
    module.write_text(body.replace("0.5", "0.25"), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "kept_work")
    linecache.checkcache()
    assert run(code, tmp_path / "kept").splitlines()[0] == "worked 1"


@pytest.mark.slow
def test_studies_edges_and_trainings_are_kept_and_found_again(tmp_path: Path) -> None:
    code = """
from workbench import edge, kept_at, make_setup, nainjaune, study, trained
import workbench
first = [study("--agents", "tally", "lowest", "--rounds", "8"),
         edge("tally", "lowest", make_setup(preset="classic", players=3, decline="never"), deals=8, seed=1),
         trained("configs/nain_jaune/ppo.yaml", iterations=1, tables=16, **{"arch.hidden": "[8]"}, eval_every=0)]
workbench.nainjaune = workbench.Duplicate = None
second = [study("--agents", "tally", "lowest", "--rounds", "8"),
          edge("tally", "lowest", make_setup(preset="classic", players=3, decline="never"), deals=8, seed=1),
          trained("configs/nain_jaune/ppo.yaml", iterations=1, tables=16, **{"arch.hidden": "[8]"}, eval_every=0)]
assert first == second
print(*sorted(path.name.split("-")[0] for path in kept_at("x").parent.iterdir()))
"""
    assert run(code, tmp_path).split() == ["duplicate_edge", "run", "study"]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nainjaune study --agents nobody(.|\n)*'nobody'"):
        run("from workbench import study; study('--agents', 'nobody', '--rounds', '8')", tmp_path)


def test_the_environment_says_how_much(tmp_path: Path) -> None:
    code = "from workbench import sized; print(sized(full=1, small=2))"
    assert [run(code, tmp_path, size) for size in ("small", "full")] == ["2\n", "1\n"]
    with pytest.raises(ConfigError, match="value of NAINJAUNE_NOTEBOOKS"):
        run(code, tmp_path, "huge")
