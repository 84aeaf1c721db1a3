"""The contract tests themselves: the smallest game passes them, and one whose resampling is broken does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

CONTRACTS = ("tests/games/test_contract.py", "tests/games/test_contract_knowledge.py")
RESAMPLING = "tests/games/test_contract_knowledge.py::test_resampling_draws_different_tables"


def contracts(folder: Path, *tests: str, broken: str = "") -> subprocess.CompletedProcess[str]:
    """Runs contract tests on Kuhn poker, which ``folder`` offers as a distribution would, without the compiler.

    ``broken`` is Python that changes the module ``kernel`` first.
    """
    offer = folder / "kuhn_poker-1.dist-info"
    offer.mkdir()
    (offer / "METADATA").write_text("Metadata-Version: 2.1\nName: kuhn_poker\nVersion: 1\n", encoding="utf-8")
    (offer / "entry_points.txt").write_text(
        "[nainjaune_env.games]\nkuhn_poker = tests.support.kuhn_poker:SPEC\n", encoding="utf-8"
    )
    run = f"from tests.support.kuhn_poker import kernel; {broken}\nimport pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"
    environment = {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT))), "TEST_GAME": "kuhn_poker", "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, "-c", run, "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", *tests],
        cwd=ROOT, env={**os.environ, **environment}, check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.long
def test_the_smallest_game_passes_all_contracts(tmp_path: Path) -> None:
    done = contracts(tmp_path, *CONTRACTS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("", "1 passed"),
        ("kernel.draw = lambda table, other: (other + 1) % kernel.CARDS", "nothing was ever drawn"),
    ],
    ids=["right", "always the same card"],
)
def test_resampling_that_draws_nothing_fails(tmp_path: Path, broken: str, said: str) -> None:
    done = contracts(tmp_path, RESAMPLING, broken=broken)
    assert said in done.stdout, done.stdout + done.stderr
    assert done.returncode == bool(broken)
