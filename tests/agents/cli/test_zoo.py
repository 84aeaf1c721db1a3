"""``nainjaune zoo``: the list, the cards, and a run put into a box."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.agents.cli.command import status_of
from tests.agents.trainers.test_ppo import run_in, tiny
from tests.agents.zoo.boxes import put
from tests.support.positions import small


def nainjaune(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit status, what was printed, and what went to stderr, without the progress bar."""
    status = status_of(words)
    out, err = capfd.readouterr()
    return status, out, re.sub(r"[^\n]*\r", "", err).strip()


def test_the_list_and_a_card(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "strong", small(), "classic-3")
    put(tmp_path, "strong", small(), "nain_jaune", anywhere=True)
    put(tmp_path, "other", small(), "nain_jaune", anywhere=True)
    status, out, _ = nainjaune(capfd, "zoo", "--folder", str(tmp_path))
    assert status == 0
    assert out.splitlines() == [
        "zoo:other   Nain Jaune at any table                          +0.500 ± 0.100 over lowest",
        "zoo:strong  Nain Jaune (classic, max_rounds 2) with 3 seats  +0.500 ± 0.100 over lowest",
        "zoo:strong  Nain Jaune at any table                          +0.500 ± 0.100 over lowest",
    ]
    status, out, _ = nainjaune(capfd, "zoo", "zoo:other", "--folder", str(tmp_path))
    assert status == 0
    for part in ("A small one.", "1.5 minutes", "  python train.py --out runs/x", "classic, max_rounds 2, 3 seats", "seed 9"):
        assert part in out


def test_a_run_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    run_in(Path("runs/a"), tiny(iterations=1))
    words = ["zoo", "tiny", "--folder", "box", "--add", "runs/a", "--note", "Tiny.", "--against", "lowest", "--deals", "20"]
    words += ["--local-changes"]  # a developer's checkout may have some
    status, out, _ = nainjaune(capfd, *words)
    assert status == 0
    path = Path(out.removeprefix("Added: ").strip())
    assert path.is_file()
    assert "zoo:tiny" in nainjaune(capfd, "zoo", "--folder", "box")[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nobody"], "Unknown zoo player 'nobody'"),
        (
            ["../../evil", "--add", "runs/a", "--note", "x", "--against", "lowest"],
            "with a letter or digit; not '../../evil'.",
        ),
        (["--add", "runs/a"], "--add needs a name, --note and --against"),
        (["a", "--note", "x"], "--note, --against and --local-changes need --add"),
        (
            ["a", "--add", "runs/a", "--note", "x", "--against", "lowest", "--deals", "1"],
            "--deals: expected a whole number from 2 to",
        ),
        (["a", "--add", "runs/none", "--note", "x", "--against", "lowest"], "There is no checkpoint at 'runs/none"),
    ],
)
def test_what_is_refused(words: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "a", small(), "classic-3")
    status, _, err = nainjaune(capfd, "zoo", *words, "--folder", str(tmp_path))
    assert status == 2
    assert says in err


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = nainjaune(capfd, "zoo", "--folder", str(tmp_path / "no"))
    assert (status, out) == (2, "")
    assert err == f"nainjaune zoo: There is no folder at {str(tmp_path / 'no')!r}."


@pytest.mark.parametrize("name", [[], ["strong"]])
def test_an_empty_folder_has_no_players(name: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = nainjaune(capfd, "zoo", *name, "--folder", str(tmp_path))
    assert (status, out) == (2, "")
    assert err == f"nainjaune zoo: There are no players in the folder {str(tmp_path)!r}."
