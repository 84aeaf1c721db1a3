"""``nainjaune film``: films and pictures from records and from rounds played for them, and what it refuses."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

from nainjaune_agents.cli.main import main
from nainjaune_env import get_game
from nainjaune_env.core.extras import install_command
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import write_records
from nainjaune_env.registry import make_setup
from nainjaune_env.render.raster import font_files
from tests.agents.cli.command import Capture, refused
from tests.support.games import games_with
from tests.support.recorded import play
from tests.support.svg_boxes import texts


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("records") / "matches.jsonl"
    write_records(path, play(make_setup("nain_jaune", "djeco", 2, max_rounds=2), 1, 2))
    return str(path)


def test_a_film_of_a_record(records: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "round.gif"
    assert main(["film", records, "--match", "2", "--round", "2", "--seat", "0", "--scale", "0.1", "--out", str(out)]) == 0
    record = play(make_setup("nain_jaune", "djeco", 2, max_rounds=2), 1, 2)[1]
    plies = len(record["rounds"][1]["moves"])
    assert capsys.readouterr().out == f"{out}: {plies + 1} pictures\n"
    with Image.open(out) as film:
        assert film.size == (128, 92)
        assert 1 < film.n_frames <= plies + 1  # type: ignore[attr-defined]  (pictures that are alike are one, and longer)


@pytest.mark.parametrize("game", games_with("pictures"))
def test_a_picture_of_a_round_played_for_it(game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "table.svg"
    command = ["film", "--game", game, "--agents", "random", "--seed", "3", "--seat", "1", "--ply", "0", "--out", str(out)]
    assert main(command) == 0
    assert capsys.readouterr().out == f"{out}\n"
    setup = get_game(game).setup()
    table = Batch(setup, 1, seed=3, skip_forced=False).tables[0]
    picture = out.read_text(encoding="utf-8")
    names = ["random"] * setup.players
    assert setup.game.pictures is not None
    assert texts(picture)[:4] == texts(setup.game.pictures.svg(setup, table, 1, names=names))[:4]
    assert texts(picture).count("random") == setup.players
    assert main([*command[:-1], str(tmp_path / "again.svg")]) == 0
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == picture
    assert main([*("4" if word == "3" else word for word in command[:-1]), str(tmp_path / "other.svg")]) == 0
    assert texts((tmp_path / "other.svg").read_text(encoding="utf-8")) != texts(picture)
    assert main([*command[:-3], "0", "--lang", "fr", "--scale", "0.2", "--out", str(tmp_path / "table.png")]) == 0
    with Image.open(tmp_path / "table.png") as image:
        assert image.size == (256, 184)


def test_a_file_is_not_replaced_not_even_its_own_input(records: str, tmp_path: Path) -> None:
    match = tmp_path / "m.svg"
    match.write_bytes(Path(records).read_bytes())
    assert main(["film", str(match), "--out", str(match)]) == 2
    assert match.read_bytes() == Path(records).read_bytes()


def test_pictures_by_ply(records: str, tmp_path: Path) -> None:
    drawn = {}
    for ply in ("0", "5", None):
        out = tmp_path / f"{ply}.svg"
        assert main(["film", records, *(["--ply", ply] if ply else []), "--out", str(out)]) == 0
        drawn[ply] = ET.fromstring(out.read_text(encoding="utf-8"))[0].text or ""
    assert "has the lead" in drawn["0"]
    assert len(set(drawn.values())) == 3
    assert "is out of cards" in drawn[None]


def test_control_characters_in_names_leave_the_picture_well_formed(tmp_path: Path) -> None:
    records = play(make_setup("nain_jaune", "djeco", 2, max_rounds=2), 1, 1)
    records[0]["agents"] = ["a\x1b[1m", "b\x00"]
    write_records(tmp_path / "odd.jsonl", records)
    assert main(["film", str(tmp_path / "odd.jsonl"), "--out", str(tmp_path / "x.svg")]) == 0
    picture = (tmp_path / "x.svg").read_text(encoding="utf-8")
    ET.fromstring(picture)
    assert {"a\\x1b[1m", "b\\x00"} <= set(texts(picture))


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    font_files.cache_clear()
    monkeypatch.setitem(sys.modules, "resvg_py", None)  # type: ignore[arg-type]
    refused(capfd, "film --agents random --out x.gif", re.escape(install_command("render")))
    assert main(["film", "--agents", "random", "--out", "x.svg"]) == 0  # which takes no library
