"""Modules can be read in one sitting, and a module that only one other uses is long enough to stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support.source import Source, imports, sources

LONGEST = 450
"""Most lines of a module outside ``games/``; a game's tables of texts and shapes may be longer."""
SHORTEST = 25
"""Fewest lines of a module that a single module imports; a shorter one belongs into that module."""
EXCEPTIONS: dict[str, str] = {}
"""Module -> why it may be shorter or longer."""


def num_lines(source: Source) -> int:
    return len(source.path.read_text(encoding="utf-8").splitlines())


def too_long(modules: Mapping[str, Source]) -> list[str]:
    """The modules outside ``games/`` that are too long, with their lines."""
    lines = {name: num_lines(module) for name, module in modules.items() if ".games." not in name}
    return [f"{name}: {count} lines" for name, count in lines.items() if count > LONGEST and name not in EXCEPTIONS]


def too_short(modules: Mapping[str, Source]) -> list[str]:
    """The short modules that exactly one module imports, with that one."""
    found = []
    targets = {name: imports(module) for name, module in modules.items()}
    for name, module in modules.items():
        if module.path.name == "__init__.py" or num_lines(module) >= SHORTEST or name in EXCEPTIONS:
            continue
        users = [user for user, imported in targets.items() if name in imported and user != name]
        if len(users) == 1:
            found.append(f"{name}: {num_lines(module)} lines, imported by {users[0]} alone")
    return found


def test_no_module_is_too_long() -> None:
    assert too_long(sources()) == []


def test_no_module_is_too_short_for_its_only_user() -> None:
    assert too_short(sources()) == []


def test_every_exception_is_a_module_with_a_reason() -> None:
    assert EXCEPTIONS.keys() <= sources().keys()
    assert all(reason.endswith(".") for reason in EXCEPTIONS.values())


def test_the_checks_can_fail(tmp_path: Path) -> None:
    def module(name: str, code: str) -> Source:
        path = tmp_path / f"{name}.py"
        path.write_text(code, encoding="utf-8")
        return Source(name, path)

    long, game = (module(name, "x = 1\n" * (LONGEST + 1)) for name in ("long", "env.games.long"))
    assert too_long({"long": long, "env.games.long": game}) == [f"long: {LONGEST + 1} lines"]
    modules = {
        "small": module("small", "x = 1\n"),
        "shared": module("shared", "x = 1\n"),
        "one": module("one", "import small, shared\n" * SHORTEST),
        "two": module("two", "import shared\n" * SHORTEST),
    }
    assert too_short(modules) == ["small: 1 lines, imported by one alone"]
