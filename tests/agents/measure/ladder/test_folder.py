"""Nothing outside of a ladder's folder is written or deleted, wherever links in it lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_env.core.errors import ConfigError

from .ladders import ROWS, entry, ladder

LEFTOVER = ".next.json.0123456789abcdef.tmp"
"""As a process that was killed leaves it: the ladder removes those in its folders."""


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder beside the ladder ``tmp_path / "ladder"``, with files that a ladder would delete or replace in its own."""
    (tmp_path / "there").mkdir()
    for name in (LEFTOVER, "old.html", "index.html", "closer.json"):
        (tmp_path / "there" / name).write_text("{}", encoding="utf-8")
    folder = ladder(tmp_path / "ladder", "closer", "lowest")
    settings = folder / "ladder.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("[3, 2]", "[2]"), encoding="utf-8")
    return tmp_path / "there"


@pytest.mark.parametrize("link", ["site", "site/games", "results", "results/games", "results/sorted", ROWS])
def test_links_that_lead_out_are_refused_and_nothing_there_changes(
    there: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = there.parent / "ladder"
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(there / "closer.json" if link == ROWS else there)
    before = {path.name: path.read_bytes() for path in there.iterdir()}
    assert main(["ladder", str(folder), "--deals", "0" if link.startswith("site") else "256"]) == 2
    assert f"'{folder / link}' leads out of '{folder}'" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in there.iterdir()} == before


@pytest.mark.parametrize("link", ["checks", "checks/lowest.json"])
def test_a_verification_is_not_written_through_a_link(there: Path, link: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = there.parent / "ladder"
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(there if link == "checks" else there / "new.json")
    assert main(["ladder", str(folder), "--check", "lowest", "--seed", "1"]) == 2
    assert f"'{folder / link}' leads out of" in capsys.readouterr().err
    assert sorted(path.name for path in there.iterdir()) == [LEFTOVER, "closer.json", "index.html", "old.html"]


def test_links_within_the_folder_and_to_it_are_no_hindrance(there: Path) -> None:
    folder = there.parent / "ladder"
    (folder / "pages").mkdir()
    (folder / "site").symlink_to("pages")
    (there.parent / "link").symlink_to(folder)
    assert main(["ladder", str(there.parent / "link"), "--deals", "0"]) == 0
    assert (folder / "pages" / "index.html").is_file()


@pytest.mark.parametrize("key", ["cache", "transcripts"])
def test_files_of_language_models_stay_in_the_folder(there: Path, key: str) -> None:
    folder = there.parent / "ladder"
    entry(folder, "model", "chat:model")
    settings, answers = folder / "ladder.toml", folder / "answers"
    text = settings.read_text(encoding="utf-8")
    (folder / "link").symlink_to(there)
    answers.mkdir()
    (answers / "calls.sqlite").symlink_to(there / "stolen")
    for path in (str(there / "x"), "../there/x", "link/x", *(["answers"] if key == "cache" else [])):
        settings.write_text(f'{text}\n[bots.chat]\n{key} = "{path}"\n', encoding="utf-8")
        with pytest.raises(ConfigError, match=r"ladder\.toml': '.*' leads out of"):
            read_ladder(folder)
    settings.write_text(f'{text}\n[bots.chat]\n{key} = "x"\n', encoding="utf-8")
    assert getattr(read_ladder(folder).bots.chat, key) == str(folder / "x")
