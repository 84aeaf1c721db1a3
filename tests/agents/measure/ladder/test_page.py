"""The page of a ladder, its numbers and games; the verification of a submission; the command."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.ladder.check import check_entry
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.play import Players
from nainjaune_agents.measure.ladder.results import Results
from nainjaune_env.records.record import read_records

from .ladders import contents, entry, ladder


class Tags(HTMLParser):
    """All tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


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
    tags = Tags(page).found
    numbers = json.loads((folder / "site" / "ratings.json").read_text(encoding="utf-8"))
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in tags}
    assert "default-src 'none'" in page
    links = [attributes["href"] or "" for tag, attributes in tags if tag == "a"]
    assert [link for link in links if not link.startswith("games/")] == ["https://example.org"]
    assert all((folder / "site" / link).is_file() for link in links if link.startswith("games/"))
    assert "<b>pots</b>" not in page
    assert [each["entry"] for each in numbers["entries"]][-2:] == ["random", "pots"], "pots plays one of the tables only"
    assert numbers["entries"][-1]["ratings"]["all tables"] is None
    assert numbers["entries"][-1]["ratings"]["2 seats"]["mean"] is not None
    assert set(numbers["entries"][0]["ratings"]) == {"all tables", "2 seats", "3 seats"}
    assert len(numbers["pairs"]) == 6 + 10
    assert f"ratings by {100 * numbers['interaction']['djeco-3']:.0f} % of it" in page


def test_the_page_is_accessible(page: str) -> None:
    """Every table has headers with a scope, each row of results begins with one, and no meaning is in colours alone."""
    tags = Tags(page).found
    assert [tag for tag, _ in tags].count("h1") == 1
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in tags if tag == "th")
    assert page.count("<table") == page.count("<thead")
    assert 'lang="en"' in page
    for cell in re.findall(r'<td class="(?:gain|loss)"[^>]*>([^<]*)</td>', page):
        assert re.match(r"[+−]\d|\d+ of \d+ deals differ", cell), cell
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_each_entry_has_games_whose_records_are_right(folder: Path) -> None:
    records = [record for path in (folder / "results" / "games").glob("*.jsonl") for record in read_records(path)]
    assert {name for record in records for name in record["agents"]} == {"closer", "lowest", "random", "tally", "pots"}


def test_the_command_of_a_pair_repeats_it(
    folder: Path, page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = re.search(r'<th scope="row">closer, tally</th><td>(.*?)</td><td class="text"><code>nainjaune (.*?)</code>', page)
    assert row is not None
    monkeypatch.chdir(folder / "entries")
    assert main(row[2].split()) == 0
    mean = float(row[1].split(" ± ")[0].replace("−", "-"))
    said = re.search(r"advantage of A, half the difference +([+−][\d.]+)", capsys.readouterr().out)
    assert said is not None
    assert float(said[1].replace("−", "-")) == pytest.approx(mean, abs=0.006)


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
    """Its file is whole, with a right digest: only playing it again shows it."""
    folder = ladder(tmp_path, "lowest", "pots")
    assert main(["ladder", str(folder), "--deals", "256"]) == 0
    read = read_ladder(folder)
    results = Results(read)
    for pairing in results.pairings.values():
        batch = pairing.batches.pop()
        batch["advantage"] = [256, 100, 5000, 300_000, 3, 10, 50]
        results.add(pairing, {**batch, "times": [[0, 0, 0.0]] * 2})
    capsys.readouterr()
    assert main(["ladder", str(folder), "--check", str(folder / "entries" / "pots.toml"), "--seed", "1"]) == 1
    assert "2 drawn batches played again, DIFFERENT: djeco-" in capsys.readouterr().out
    assert "DIFFERENT" in (folder / "site" / "index.html").read_text(encoding="utf-8")
    entry(folder, "pots", "run_pot")
    check = check_entry(Results(read_ladder(folder)), Players(read_ladder(folder)), "pots", np.random.default_rng(1), 1, print)
    assert (check.rounds, check.repeated, check.differing) == (4, 0, [])


def test_a_ladder_without_deals_has_no_neighbours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ladder", str(ladder(tmp_path)), "--deals", "0"]) == 0
    out = capsys.readouterr().out
    assert "0 deals played" in out
    assert "neighbours" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--check", "poots"], "Did you mean 'pots'"),
        (["--seed", "1"], "--seed is what --check draws"),
        (["--workers", "2", "--cluster", "auto"], "give one of them"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    folder: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ladder", str(folder), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_is_being_worked_on_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nainjaune_env.core.atomic_files import locked

    with locked(folder / "ladder.toml"):
        assert main(["ladder", str(folder)]) == 2
    assert "Another command works in" in capsys.readouterr().err
