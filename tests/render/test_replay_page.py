"""The page of a match: whole in one file, with every picture of the film, and nothing of a broken record."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import MAX_NAME, MAX_SHOWN_NAME, Record, read_records, setup_of
from nainjaune_env.render.replay_page import WORDS, replay_page

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = ("batasaurus_perfect_2", "batasaurus_glimpse_3")


def record_in(name: str) -> Record:
    return next(iter(read_records(GOLDEN / f"{name}.jsonl")))


def data_of(page: str) -> dict[str, Any]:
    packed = re.search(r'id="data">"([^"]+)"<', page)
    assert packed is not None
    payload: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return payload


def test_a_long_name_makes_no_long_page() -> None:
    record = record_in(FILES[0])
    usual, long = (data_of(replay_page({**record, "agents": [name, "b"]}, "en")) for name in ("a", "a" * MAX_NAME))
    assert len(json.dumps(long)) < 2 * len(json.dumps(usual))
    assert len(long["title"]) < len(usual["title"]) + MAX_SHOWN_NAME


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FILES)
def test_it_has_every_picture_as_the_painter_draws_it(name: str, language: str) -> None:
    record = {**record_in(name), "agents": ["</script><b>", *record_in(name)["agents"][1:]]}
    setup = setup_of(record)
    page = replay_page(record, language)
    assert html.escape("</script><b>") in page
    assert page.count("</script>") == 2
    assert not re.search(r"@[A-Z]+@|src=\"http|href=\"http", page)
    data = data_of(page)
    assert len(data["views"]) == 1 + setup.players
    for seat, view in zip([None, *range(setup.players)], data["views"], strict=True):
        assert setup.game.pictures is not None
        film = setup.game.pictures.film(setup, record, seat, language=language, names=record["agents"])
        assert ["<".join(data["parts"][part] for part in picture) for picture in view["pictures"]] == list(film)
    assert sum(each["pictures"] for each in data["rounds"]) == len(data["views"][0]["pictures"])
    assert data["decisions"] == sorted(set(data["decisions"]))
    assert max(data["decisions"], default=0) < len(data["views"][0]["pictures"])


def test_the_words_of_both_languages() -> None:
    assert WORDS["en"].keys() == WORDS["fr"].keys()


def test_a_broken_record_shows_nothing() -> None:
    record = record_in(FILES[0])
    with pytest.raises(RecordError):
        replay_page({**record, "winners": [9]}, "en")
