"""The static site as a folder of plain files: the page of ``nainjaune serve``, a worker, modules, texts and a network."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_bytes
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.engine.modules import build
from nainjaune_env.registry import get_game

from .. import wasm
from ..heuristics import heuristics
from ..loading import load_agent
from ..play.replay_page import WORDS as REPLAY_WORDS
from ..serve.page_files import page_files
from ..wasm.network import write_network
from .data import TEXTS, setup_data, text_data

STATIC = Path(__file__).with_name("static")
PACKAGE = Path(__file__).parents[2] / "wasm"
"""The npm package, which is in the repository alone."""
GAMES = ("nain_jaune", "batasaurus")
NETWORKS = (("nain_jaune", "djeco", 4),)
"""The setups at which the site has ``zoo:strong``."""
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
MANIFEST = {
    "name": "Nain Jaune",
    "short_name": "Nain Jaune",
    "start_url": "./",
    "scope": "./",
    "display": "standalone",
    "background_color": "#ffffff",
    "theme_color": "#2f6f4f",
    "icons": [{"src": "favicon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}],
}
DAY = {
    "game": "nain_jaune", "preset": "djeco", "players": 4, "knobs": {}, "names": ["person 0", "Margot", "Le Nain", "Suzon"],
    "agents": [None, "closer", STRONG, "tally"], "rounds": 1, "pace": 0.6, "every_ply": False, "advice": False,
}  # fmt: skip
"""The table of the deal of the day, beside its seed."""
LEARN = {
    **DAY,
    "names": ["person 0", "Gaston", "Léonie", "Armand"],
    "agents": [None, "highest", "longest", "lowest"],
    "pace": 1.2,
    "seed": "797",
}
"""The table of the guided round."""


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
        files[f"texts-{language}.json"] = _json(_with_own_opponents(json.loads(files[f"texts-{language}.json"])))
    files["offline/puzzles.json"] = PUZZLES.read_bytes()
    files["manifest.webmanifest"] = _json(MANIFEST)
    service_worker = files.pop(WORKER)
    hashed = hashlib.sha256(b"".join(path.encode() + files[path] for path in sorted(files))).hexdigest()[:16]
    texts = {language: {**asdict(each), "replay": REPLAY_WORDS[language]} for language, each in TEXTS.items()}
    files[MARK] = _json({"version": hashed, "games": GAMES, "texts": texts, "day": DAY, "learn": LEARN})
    paths = ["./", *(path for path in files if path != "index.html")]
    files[WORKER] = b"self.SITE = " + _json({"version": hashed, "paths": paths}) + b";\n" + service_worker
    return files


def _with_site(page: str) -> str:
    """Returns the page with the head of the site, and a place for what it adds."""
    head, main = '<meta charset="utf-8">\n', '<main id="main"></main>\n'
    assert head in page
    assert main in page
    return page.replace(head, head + HEAD).replace(main, f'<aside id="site"></aside>\n{main}')


def _with_own_opponents(texts: dict[str, Any]) -> dict[str, Any]:
    """Returns the page's texts with the opponents that the site can seat; where none is the strongest, the last one is."""
    opponents = {game: [one for one in texts["opponents"][game] if _is_seated(game, one["agent"])] for game in GAMES}
    for known in opponents.values():
        if all(one["level"] != "strong" for one in known):
            known[-1]["level"] = "strong"
    return {**texts, "opponents": opponents}


def _is_seated(game: str, agent: str) -> bool:
    name, _, modifier = agent.partition("@")
    if name == STRONG:
        return not modifier and any(game == each for each, _, _ in NETWORKS)
    return name in heuristics(game)


def _game_files(game: GameSpec, modules: Path) -> dict[str, bytes]:
    if not (modules / f"{game.name}.wasm").is_file():
        build(game, modules, [wasm.__name__])
    networks: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for name, preset, players in NETWORKS:
        if name == game.name:
            path = f"games/{name}/{preset}-{players}.bin"
            setup = game.setup(preset, players)
            write_network(modules / f"{preset}-{players}.bin", load_agent(STRONG, setup), setup)
            files[path] = (modules / f"{preset}-{players}.bin").read_bytes()
            networks[f"{preset}-{players}"] = path
    parts: Mapping[str, Any] = {"setup": setup_data(game, networks), "texts": text_data(game)}
    files |= {f"games/{game.name}/{part}.json": _json(value) for part, value in parts.items()}
    files[f"games/{game.name}/description.json"] = (modules / f"{game.name}.json").read_bytes()
    files[f"games/{game.name}/module.wasm"] = (modules / f"{game.name}.wasm").read_bytes()
    return files


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
