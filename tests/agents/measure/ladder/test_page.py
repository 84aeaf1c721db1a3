"""The page of a ladder, its numbers and games; the verification of a submission; the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.ladder.check import check_entry
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.play import Players
from nainjaune_agents.measure.ladder.results import Results

from .ladders import contents, entry, forge, ladder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = ladder(tmp_path_factory.mktemp("ladder"))
    entry(folder, "pots", description='"<b>pots</b> & more"', tables='["djeco-2"]', url='"https://example.org"')
    assert main(["ladder", str(folder), "--deals", "1200"]) == 0
    return folder


@pytest.fixture
def page(folder: Path) -> str:
    return (folder / "site" / "index.html").read_text(encoding="utf-8")


def test_the_page_needs_nothing_else_and_says_what_numbers_say(folder: Path, page: str) -> None:
    numbers = json.loads((folder / "site" / "ratings.json").read_text(encoding="utf-8"))
    assert not {"script", "link", "img", "iframe"} & set(re.findall(r"<(\w+)", page))
    assert "default-src 'none'" in page
    links = re.findall(r'<a [^>]*href="([^"]*)"', page)
    assert [link for link in links if not link.startswith("games/")] == ["https://example.org"]
    assert all((folder / "site" / link).is_file() for link in links if link.startswith("games/"))
    assert "<b>pots</b>" not in page
    assert [each["entry"] for each in numbers["entries"]][-2:] == ["random", "pots"], "pots plays one of the tables only"
    assert numbers["entries"][-1]["ratings"]["all tables"] is None
    assert numbers["entries"][-1]["ratings"]["2 seats"]["mean"] is not None
    assert set(numbers["entries"][0]["ratings"]) == {"all tables", "2 seats", "3 seats"}
    assert len(numbers["pairs"]) == 6 + 10
    assert f"ratings by {100 * numbers['interaction']['djeco-3']:.0f} % of it" in page


def test_the_page_is_written_again_without_playing(folder: Path, page: str) -> None:
    before = contents(folder)
    assert main(["ladder", str(folder), "--deals", "0"]) == 0
    assert contents(folder) == before
    assert (folder / "site" / "index.html").read_text(encoding="utf-8") == page


def test_a_submission_is_verified_and_the_page_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ladder", str(folder), "--check", "pots", "--seed", "3"]) == 0
    said = capsys.readouterr().out
    assert "pots: 2 rounds with right records; 8 drawn batches played again, all equal to the byte (seed 3)." in said
    assert "all equal to the byte (seed 3)" in (folder / "site" / "index.html").read_text(encoding="utf-8")


def test_a_result_that_was_made_up_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its row is whole, with a right digest: only playing it again shows it."""
    folder = ladder(tmp_path, "lowest", "pots")
    assert main(["ladder", str(folder), "--deals", "256"]) == 0
    for table in ("djeco-3", "djeco-2"):
        forge(folder, lambda row: row["sums"].update(advantage=[256, 100, 5000, 300_000, 3, 10, 50]), table, "lowest", "pots")
    capsys.readouterr()
    assert main(["ladder", str(folder), "--check", str(folder / "entries" / "pots.toml"), "--seed", "1"]) == 1
    assert "2 drawn batches played again, DIFFERENT: djeco-" in capsys.readouterr().out
    assert "DIFFERENT" in (folder / "site" / "index.html").read_text(encoding="utf-8")
    entry(folder, "pots", "run_pot")
    check = check_entry(Results(read_ladder(folder)), Players(read_ladder(folder)), "pots", np.random.default_rng(1), 1, print)
    assert (check.rounds, check.repeated, check.differing) == (4, 0, [])


def test_a_folder_that_is_being_worked_on_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nainjaune_env.core.atomic_files import locked

    with locked(folder / "ladder.toml"):
        assert main(["ladder", str(folder)]) == 2
    assert "Another command works in" in capsys.readouterr().err
    assert main(["ladder", str(folder), "--check", "poots"]) == 2
    assert "Did you mean 'pots'" in capsys.readouterr().err
