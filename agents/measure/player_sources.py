"""The sources of ours that play for an agent, by the kinds of its parts; a part of its identity (:mod:`.player_id`)."""

from __future__ import annotations

import functools
import hashlib
import importlib
import io
import tokenize
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import nainjaune_env

ENV, AGENTS = Path(nainjaune_env.__file__).parent, Path(__file__).parents[1]
SAMPLING = ("players/networks/policy_agent.py", "base/sampling.py")
TEXTS = ("env/text/*", "game/language/*", "game/*.toml", "env/core/event_texts.py")
SOURCES: Mapping[str, Sequence[str]] = {
    "rules": ("game/*.py",),
    "heuristic": ("players/heuristics/__init__.py", "players/heuristics/{game}.py", "base/sampling.py"),
    "exact": ("players/exact/{game}.py", "players/exact/matrix.py"),
    "mixed": ("players/mixed.py",),
    "search": ("players/search/*", "game/belief/*"),
    "network": ("players/networks/inference/*", "players/networks/net_agent.py", *SAMPLING),
    "onnx": ("players/foreign/onnx_model.py", *SAMPLING),
    "sb3": ("players/foreign/sb3_*.py", *SAMPLING),
    "python": ("env/agent_adapters.py",),
    "exec": ("players/program/protocol.py", "players/program/player.py", *TEXTS),  # programs are sent the text of the rules
    "chat": ("players/chat/agent.py", "players/chat/memory.py", *TEXTS),
}
"""The sources that play for a kind of player, as patterns: in ``env``, the folder of ``nainjaune_env``, in that of the ``game``,
or in that of this package."""
ENDINGS = (".py", ".toml")


def sources(pattern: str, package: str) -> list[Path]:
    """Returns the files of a pattern of :data:`SOURCES` for the game that ``package`` defines, sorted."""
    game = Path(str(importlib.import_module(package).__file__)).parent
    first, _, rest = pattern.partition("/")
    folder, inner = {"env": (ENV, rest), "game": (game, rest)}.get(first, (AGENTS, pattern.format(game=game.name)))
    return sorted(path for path in folder.glob(inner) if path.suffix in ENDINGS)


@functools.cache
def sources_digest(kind: str, package: str) -> str:
    """Returns the SHA-256 of the code that plays for a kind of player in the game of ``package``, read once in a process."""
    lines = []
    for pattern in SOURCES[kind]:
        for path in sources(pattern, package):
            lines += [f"# {path.parent.name}/{path.name}", code_of(path)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def code_of(path: Path) -> str:
    """Returns the lines of a Python file without docstrings, comments and empty lines, which decide nothing.

    Other files, such as texts for language models, are returned as they are.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    lines, ignored, in_string = text.split("\n"), set[int](), set[int]()
    before = tokenize.NEWLINE
    for token, after in pairwise(tokenize.generate_tokens(io.StringIO(text).readline)):
        first, last = token.start[0] - 1, token.end[0] - 1
        if token.type == tokenize.COMMENT:
            lines[first] = lines[first][: token.start[1]]
        elif token.type in _STRINGS:
            in_string.update(range(first, last))  # the ends of these lines belong to the string
            if before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) and after.type == tokenize.NEWLINE:
                ignored.update(range(first, last + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    rows = ((number, line if number in in_string else line.rstrip()) for number, line in enumerate(lines))
    return "\n".join(line for number, line in rows if number not in ignored and (line or number in in_string))
