"""``nainjaune film``: films and pictures from records and from rounds played for them, and what it refuses."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

from nainjaune_agents.cli.main import main
from nainjaune_env import get_game
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import read_records
from tests.support.games import games_with
from tests.support.svg_boxes import texts


def test_a_film_of_a_record(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "round.gif"
    assert main(["film", str(file), "--match", "2", "--round", "2", "--seat", "0", "--scale", "0.1", "--out", str(out)]) == 0
    plies = len(list(read_records(file))[1]["rounds"][1]["moves"])
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


def test_pictures_by_ply(file: Path, tmp_path: Path) -> None:
    drawn = {}
    for ply in ("0", "5", None):
        out = tmp_path / f"{ply}.svg"
        assert main(["film", str(file), *(["--ply", ply] if ply else []), "--out", str(out)]) == 0
        drawn[ply] = ET.fromstring(out.read_text(encoding="utf-8"))[0].text or ""
    assert "has the lead" in drawn["0"]
    assert len(set(drawn.values())) == 3
    assert "is out of cards" in drawn[None]
