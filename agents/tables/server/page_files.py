"""The files of the page, by their paths: what a browser needs of the package, whoever sends it."""

from __future__ import annotations

import dataclasses
import json
import mimetypes
from pathlib import Path

from nainjaune_env.core.spec import Pictures
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.registry import get_game
from nainjaune_env.render.replay_page import SCRIPT

from .texts import TEXTS

PAGE = Path(__file__).with_name("static")
FIRST = "index.html"
DRAWN = tuple(sorted(file.stem for file in PAGE.glob("scene/games/*.js")))
"""Games whose scenes the page draws itself; of others it shows pictures."""


def page_files() -> dict[str, tuple[str, bytes]]:
    """Returns the type and the content of every file, by its path below the page's address; the page itself is ``""``.

    Besides ``static`` there are the artwork of the games that the page draws, their words, and the texts of the page.
    """
    files = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in PAGE.rglob("*") if path.is_file()}
    files[SCRIPT.name] = SCRIPT.read_bytes()
    files |= {f"texts-{language}.json": _json(texts_of_page(language)) for language in LANGUAGES}
    for game in DRAWN:
        artwork = pictures_of(game).ARTWORK
        files |= {f"artwork/{game}/{path.name}": path.read_bytes() for path in artwork.glob("*.svg")}
    typed = {path: (_type_of(path), content) for path, content in files.items()}
    return {"": typed.pop(FIRST), **typed}


def texts_of_page(language: str) -> dict[str, object]:
    """Returns the texts of the page, its ``opponents``, and under ``games`` the words and labels of each game that it draws."""
    games = {game: pictures_of(game).language_of(language) for game in DRAWN}
    drawn = {
        name: {kind: dataclasses.asdict(getattr(texts, kind)) for kind in ("words", "labels")} for name, texts in games.items()
    }
    return {**TEXTS[language].page, "games": drawn, "opponents": TEXTS[language].opponents}


def pictures_of(game: str) -> Pictures:
    """Returns the pictures of a game that the page draws."""
    pictures = get_game(game).pictures
    assert pictures is not None
    return pictures


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _type_of(path: str) -> str:
    kind = {".js": "text/javascript", ".svg": "image/svg+xml"}.get(Path(path).suffix) or mimetypes.guess_type(path)[0]
    return f"{kind or 'application/octet-stream'}; charset=utf-8"
