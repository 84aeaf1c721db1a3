"""What the notebooks share: amounts, and work that is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .running import FOLDER


def run(code: str, kept: Path, size: str = "small") -> subprocess.CompletedProcess[str]:
    """``code`` in a process that begins as a notebook does."""
    ask = f"import os\nos.environ.update(NAINJAUNE_NOTEBOOKS={size!r}, NAINJAUNE_NOTEBOOKS_KEPT={str(kept)!r})\n{code}"
    command = [sys.executable, "-W", "error", "-c", ask]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=FOLDER)


@pytest.mark.slow
def test_work_is_done_once_for_each_of_its_settings(tmp_path: Path) -> None:
    """The functions are in files: what is kept goes by their text."""
    module = tmp_path / "work.py"
    body = "def work(n):\n    print('worked', n)\n    return [n, None, 0.5]\n"
    module.write_text(body, encoding="utf-8")
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r})\n"
        "from work import work\nfrom workbench import kept\n"
        "print(kept(work, n=1), kept(work, n=2), kept(work, n=1))"
    )
    done = run(code, tmp_path / "kept")
    assert done.stdout.splitlines() == ["worked 1", "worked 2", "[1, None, 0.5] [2, None, 0.5] [1, None, 0.5]"], done.stderr
    assert run(code, tmp_path / "kept").stdout.splitlines() == ["[1, None, 0.5] [2, None, 0.5] [1, None, 0.5]"]
    module.write_text(body.replace("0.5", "0.25"), encoding="utf-8")
    assert run(code, tmp_path / "kept").stdout.splitlines()[0] == "worked 1"


@pytest.mark.slow
def test_studies_edges_and_trainings_are_kept_and_found_again(tmp_path: Path) -> None:
    code = """
from workbench import edge, kept_at, make_setup, nainjaune, study, trained
import workbench
first = [study("--agents", "tally", "lowest", "--rounds", "8"),
         edge("tally", "lowest", make_setup(preset="classic", players=3, decline="never"), deals=8, seed=1),
         trained("configs/nain_jaune/ppo.yaml", iterations=1, tables=16, hidden="[8]", eval_every=0)]
workbench.nainjaune = workbench.Duplicate = None
second = [study("--agents", "tally", "lowest", "--rounds", "8"),
          edge("tally", "lowest", make_setup(preset="classic", players=3, decline="never"), deals=8, seed=1),
          trained("configs/nain_jaune/ppo.yaml", iterations=1, tables=16, hidden="[8]", eval_every=0)]
assert first == second
print(*sorted(path.name.split("-")[0] for path in kept_at("x").parent.iterdir()))
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["duplicate_edge", "run", "study"]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    done = run("from workbench import study; study('--agents', 'nobody', '--rounds', '8')", tmp_path)
    assert "ConfigError: nainjaune study --agents nobody" in done.stderr
    assert "'nobody'" in done.stderr


@pytest.mark.parametrize(("size", "gives"), [("small", "2"), ("full", "1"), ("huge", "value of NAINJAUNE_NOTEBOOKS")])
def test_the_environment_says_how_much(size: str, gives: str, tmp_path: Path) -> None:
    done = run("from workbench import sized; print(sized(full=1, small=2))", tmp_path, size)
    assert gives in (done.stdout or done.stderr)
