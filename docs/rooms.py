"""The picture of the rooms of ``agents/``: an arrow for each room that another one imports from, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap

AGENTS = Path(__file__).resolve().parents[1] / "agents"
PLACES = {
    "cli": (10, 940, 10, 58), "train": (10, 300, 102, 216), "tables": (330, 300, 102, 98), "language": (650, 300, 102, 98),
    "study": (330, 620, 234, 84), "measure": (10, 940, 352, 66), "players": (10, 940, 452, 66), "base": (10, 940, 552, 52),
}  # fmt: skip
"""Of each room: left edge, width, top and height. A room stands above those that it uses."""
STYLE = ".room{fill:#fff;stroke:#475569}.arrow{stroke:#b45309;stroke-width:2.5;marker-end:url(#tip)}.name{font-weight:600}"
STYLE += ".about,.parts{fill:#475569;font-size:12.5px}.parts{fill:#0369a1}"
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#b45309"/></marker>'
)
WIDTH_OF_A_LETTER = 6.4


def imported_rooms(room: str) -> set[str]:
    """Returns the other rooms that the modules of ``room`` import from, inside functions and for type checking too."""
    rooms: set[str] = set()
    for path in (AGENTS / room).rglob("*.py"):
        depth = len(path.relative_to(AGENTS).parts)  # as many dots lead to the package of the rooms
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == depth:
                rooms |= {node.module.partition(".")[0]} if node.module else {alias.name for alias in node.names}
    return rooms & PLACES.keys() - {room}


def arrows(uses: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yields each room with the rooms that it uses, but for those that one of these uses, too.

    Raises ValueError where rooms use each other.
    """

    def all_below(room: str, way: tuple[str, ...]) -> set[str]:
        if room in way:
            raise ValueError(f"Rooms of agents/ use each other: {' -> '.join((*way, room))}.")
        return uses[room].union(*(all_below(other, (*way, room)) for other in uses[room]))

    for room, used in uses.items():
        below = set[str]().union(*(all_below(other, (room,)) for other in used))
        yield from ((room, other) for other in sorted(used - below))


def room_svg() -> str:
    """Returns the picture of the rooms."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 614" width="960" height="614" '
        'font-family="system-ui, sans-serif" font-size="14">',
        f"<style>{STYLE}</style><defs>{TIP}</defs>",
        '<rect width="960" height="614" fill="#fff"/>',
    ]
    for room, (left, width, top, height) in PLACES.items():
        about = (ast.get_docstring(ast.parse((AGENTS / room / "__init__.py").read_text(encoding="utf-8"))) or "").split("\n")[0]
        letters = int((width - 28) / WIDTH_OF_A_LETTER)
        inner = [f"{path.name}/" for path in sorted((AGENTS / room).iterdir()) if (path / "__init__.py").is_file()]
        lines = [
            *(("about", line) for line in wrap(about.replace("``", ""), letters)),
            *([("parts", "  ".join(inner))] if inner else []),
        ]
        parts.append(f'<rect class="room" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>')
        parts.append(f'<text class="name" x="{left + 14}" y="{top + 22}">{room}/</text>')
        for number, (kind, line) in enumerate(lines):
            parts.append(f'<text class="{kind}" x="{left + 14}" y="{top + 41 + 17 * number}">{escape(line)}</text>')
    for user, used in arrows({room: imported_rooms(room) for room in PLACES}):
        (left, width, top, height), (other_left, other_width, other_top, _) = PLACES[user], PLACES[used]
        x = (max(left, other_left) + min(left + width, other_left + other_width)) // 2  # the middle of what they share
        parts.append(f'<path class="arrow" d="M{x} {top + height}V{other_top - 3}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
