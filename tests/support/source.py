"""The project's own source files as modules and their imports: for the tests of its structure."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"nainjaune_env": ROOT / "nainjaune_env", "nainjaune_agents": ROOT / "agents"}
SCRIPTS = ("train.py", "evaluate.py")


@dataclass(frozen=True)
class Source:
    """One file."""

    name: str
    """As it is imported; a script goes by its file's name."""
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @property
    def package(self) -> str:
        """What a single dot means in it."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


@cache
def sources() -> dict[str, Source]:
    """Every module of both packages, and the scripts, by name."""
    result = {script: Source(script, ROOT / script) for script in SCRIPTS}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            result[name] = Source(name, path)
    return result


def imports(source: Source) -> set[str]:
    """The modules that a file imports anywhere, inside functions and for type checking too."""
    result: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = source.package.split(".")
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                result.add(inner if inner in sources() else base)
    return result
