"""The static site as a folder of plain files: the page of ``nainjaune serve``, a worker, modules, texts and a network."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nainjaune_env.build.wasm import build
from nainjaune_env.core.atomic_files import write_bytes
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import get_game
from nainjaune_env.render.replay_page import WORDS as REPLAY_WORDS

from ...players import wasm
from ...players.heuristics import heuristics
from ...players.loading import load_agent
from ...players.wasm.network import write_network
from ..server.page_files import page_files
from ..server.settings import playable
from ..server.texts import TEXTS as TEXTS_OF_PAGE
from .data import TEXTS, setup_data, text_data

STATIC = Path(__file__).with_name("static")
PACKAGE = Path(__file__).parents[3] / "wasm"
"""The npm package; only the repository has it."""
GAMES = tuple(name for name in playable() if (STATIC / "offline" / "games" / f"{name}.js").is_file())
"""The games whose matches the worker can tell, the default one first."""
STRONG = "zoo:strong"
PUZZLES = Path(__file__).with_name("puzzles.json")
"""What `nainjaune puzzles` has made."""
MARK = "offline/site.json"
"""The file by which an earlier site is known."""
WORKER = "service_worker.js"
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"
)
"""Only the site's own files run, and nothing is sent anywhere else."""
HEAD = (
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    '<link rel="manifest" href="manifest.webmanifest">\n'
    '<link rel="stylesheet" href="site.css">\n'
    '<script type="module" src="site.js"></script>\n'
)
LESSON_SEED = "797"
"""Deals a hand to the learner that leads, with two pot cards and a run before one of them."""
PACE = 0.6
"""Seconds before each ply of an opponent."""


def build_site(folder: Path, modules: Path | None = None) -> int:
    """Writes the site to ``folder``; returns its bytes. ``modules`` has built modules of this version; None builds them.

    Raises :class:`ConfigError` where the folder has other files, and outside a checkout, which alone has the npm package.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise ConfigError(f"{folder} has files that are none of an earlier site, so nothing is written there.")
    if not PACKAGE.is_dir():
        raise ConfigError("The site takes the folder wasm/ of the repository, so it is built in a checkout.")
    with tempfile.TemporaryDirectory() as temporary:
        files = site_files(modules or Path(temporary))
    for path, content in files.items():  # the service worker is the last: until then pages keep the old site
        write_bytes(folder / path, content)
    return sum(map(len, files.values()))


def site_files(modules: Path) -> dict[str, bytes]:
    """Returns every file by its path; modules that are not in the folder ``modules`` are built there."""
    files = {path: content for path, (_, content) in page_files().items() if path}
    files["index.html"] = _with_site(page_files()[""][1].decode()).encode()
    files |= {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in STATIC.rglob("*") if path.is_file()}
    files |= {f"wasm/{path.name}": path.read_bytes() for path in PACKAGE.glob("*.js")}
    for game in map(get_game, GAMES):
        files |= _game_files(game, modules)
    for language in TEXTS:
        files[f"texts-{language}.json"] = _json(_own_texts(language, json.loads(files[f"texts-{language}.json"])))
    files["offline/puzzles.json"] = PUZZLES.read_bytes()
    files["manifest.webmanifest"] = _json(_manifest())
    service_worker = files.pop(WORKER)
    hashed = hashlib.sha256(b"".join(path.encode() + files[path] for path in sorted(files))).hexdigest()[:16]
    texts = {language: {**asdict(each), "replay": _words_of_replays(language)} for language, each in TEXTS.items()}
    site = {"games": GAMES, "names": _names(), "texts": texts, "day": _deal_of_the_day(), "learn": _lesson()}
    files[MARK] = _json({"version": hashed, **site})
    paths = ["./", *(path for path in files if path != "index.html")]
    files[WORKER] = b"self.SITE = " + _json({"version": hashed, "paths": paths}) + b";\n" + service_worker
    return files


def _with_site(page: str) -> str:
    """Returns the page with the head of the site, and a place for the site's own elements."""
    head, main = '<meta charset="utf-8">\n', '<main id="main" tabindex="-1"></main>\n'
    assert head in page
    assert main in page
    return page.replace(head, head + HEAD).replace(main, f'<aside id="site"></aside>\n{main}')


def _manifest() -> dict[str, Any]:
    title = get_game(DEFAULT_GAME).title
    icon = {"src": "favicon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}
    colors = {"background_color": "#ffffff", "theme_color": "#2f6f4f"}
    return {
        "name": title, "short_name": title, "start_url": "./", "scope": "./", "display": "standalone", "icons": [icon], **colors,
    }  # fmt: skip


def _deal_of_the_day() -> dict[str, Any]:
    """Returns the table of the deal of the day, without its seed: the first opponent of each level."""
    known = _opponents(DEFAULT_GAME, TEXTS_OF_PAGE[LANGUAGES[0]].opponents)
    return _table([next(one for one in known if one["level"] == level) for level in ("easy", "good", "strong")])


def _lesson() -> dict[str, Any]:
    """Returns the table of the guided round: easy opponents."""
    known = [one for one in _opponents(DEFAULT_GAME, TEXTS_OF_PAGE[LANGUAGES[0]].opponents) if one["level"] == "easy"]
    return {**_table(known[:3]), "pace": 2 * PACE, "seed": LESSON_SEED}


def _table(opponents: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Returns the settings of one round of the default game against ``opponents``; the worker adds the reader's name."""
    game = get_game(DEFAULT_GAME)
    names, agents = ["", *(one["name"] for one in opponents)], [None, *(one["agent"] for one in opponents)]
    rules = {"game": game.name, "preset": game.default_preset, "players": len(names), "knobs": {}}
    return {**rules, "names": names, "agents": agents, "rounds": 1, "pace": PACE, "every_ply": False, "advice": False}


def _own_texts(language: str, texts: dict[str, Any]) -> dict[str, Any]:
    """Returns the page's texts with the site's own ones, and with the opponents that it can seat."""
    return {**texts, **TEXTS[language].instead, "opponents": {game: _opponents(game, texts["opponents"]) for game in GAMES}}


def _opponents(game: str, opponents: Mapping[str, Sequence[Mapping[str, str]]]) -> list[dict[str, str]]:
    """Returns the opponents that the site can seat; without a strongest one, the last one is the strongest."""
    known = [{**one} for one in opponents[game] if _is_seated(game, one["agent"])]
    if all(one["level"] != "strong" for one in known):
        known[-1]["level"] = "strong"
    return known


def _words_of_replays(language: str) -> dict[str, str]:
    """Returns the words of a replay, without films, which this site does not make."""
    return {name: text for name, text in REPLAY_WORDS[language].items() if name != "film"}


def _names() -> dict[str, dict[str, str]]:
    """Returns the names by which people know the agents, by game; they are the same in all languages."""
    known = TEXTS_OF_PAGE[LANGUAGES[0]].opponents
    return {game: {one["agent"]: one["name"] for one in known[game]} for game in GAMES}


def _is_seated(game: str, agent: str) -> bool:
    return agent in heuristics(game) or (agent == STRONG and _network(game) is not None)


@functools.cache
def _network(game: str) -> bytes | None:
    """Returns the network of the strongest player of the game's default table; None where a module cannot compute it."""
    setup = get_game(game).setup()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.bin")
        try:
            write_network(path, load_agent(STRONG, setup), setup)
        except AgentError:  # there is none, or it remembers
            return None
        return path.read_bytes()


def _game_files(game: GameSpec, modules: Path) -> dict[str, bytes]:
    if not (modules / f"{game.name}.wasm").is_file():
        build(game, modules, [wasm.__name__])
    networks: dict[str, str] = {}
    files: dict[str, bytes] = {}
    network = _network(game.name)
    if network is not None:
        setup = f"{game.default_preset}-{game.default_players}"
        networks[setup] = f"games/{game.name}/{setup}.bin"
        files[networks[setup]] = network
    parts: Mapping[str, Any] = {"setup": setup_data(game, networks), "texts": text_data(game)}
    files |= {f"games/{game.name}/{part}.json": _json(value) for part, value in parts.items()}
    files[f"games/{game.name}/description.json"] = (modules / f"{game.name}.json").read_bytes()
    files[f"games/{game.name}/module.wasm"] = (modules / f"{game.name}.wasm").read_bytes()
    return files


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
