"""Breaks lines at random, one at a time, and says which of them the tests notice.

    python -m tests.mutate rules engine --count 20 --seed 1
    python -m tests.mutate rules engine --count 20 --seed 1 --before ../before/tests

With ``--before``, what survives is tried on the suite in that folder too: a mutant that it catches is LOST protection.

Sources are copied to a temporary folder; nothing here is changed. A mutant that does not import, or that numba cannot compile,
is replaced by another one. Some mutants change nothing that anybody could see; they survive every suite.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.source import ROOT

ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rules": (
        tuple(f"nainjaune_env/games/*/{name}.py" for name in ("rules", "kernel", "encode")),
        ("tests/games",),
    ),
    "twin": (
        ("tests/twin/nain_jaune.py", "tests/twin/batasaurus.py"),
        ("tests/twin", "tests/games/nain_jaune/test_rules.py", "tests/games/batasaurus/test_rules.py"),
    ),
    "engine": (("nainjaune_env/engine/*.py",), ("tests/engine", "tests/games/test_contract.py")),
    "core": (("nainjaune_env/core/*.py",), ("tests/core", "tests/engine", "tests/games")),
    "records": (("nainjaune_env/records/*.py", "nainjaune_env/games/*/records/*.py"), ("tests/records", "tests/games")),
    "envs": (("nainjaune_env/envs/*.py",), ("tests/envs",)),
    **{
        room: ((f"agents/{room}/*.py", f"agents/{room}/*/*.py"), (f"tests/agents/{room}",))
        for room in ("base", "players", "measure", "train", "study", "tables", "language")
    },
}
"""By room: the files of which lines are broken, and the tests that must notice."""

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "not in": "in", "is": "is not",
    "is not": "is", "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "&": "|", "|": "&", "^": "&", "<<": ">>",
    ">>": "<<", "and": "or", "or": "and",
}  # fmt: skip
OPERATOR = re.compile(r"not\s+in|is\s+not|<<|>>|<=|>=|==|!=|//|\b(?:in|is|and|or)\b|[-<>+*/%&|^]")
COMPILER_ERRORS = ("numba.core.errors.TypingError", "numba.core.errors.LoweringError")


class Mutant(NamedTuple):
    """One broken line."""

    file: str
    line: int
    old: str
    new: str
    source: str
    """The whole file with it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}  {self.old!r} → {self.new!r}"


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yields every mutant of a file: an operator swapped, a number one larger, a condition turned, a statement left out."""
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def begin(node: ast.expr | ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.end_lineno - 1] + node.end_col_offset

    def replaced(first: int, last: int, new: str) -> Mutant:
        line = data.count(b"\n", 0, first) + 1
        return Mutant(file, line, data[first:last].decode(), new, (data[:first] + new.encode() + data[last:]).decode())

    for node in visited(ast.parse(text)):
        if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp):
            left, right = {
                ast.Compare: lambda n: (n.left, n.comparators[0]),
                ast.BinOp: lambda n: (n.left, n.right),
                ast.BoolOp: lambda n: (n.values[0], n.values[1]),
            }[type(node)](node)
            operator = OPERATOR.search(data[end(left) : begin(right)].decode())
            if operator and (swap := SWAPS.get(" ".join(operator[0].split()))):
                yield replaced(end(left) + operator.start(), end(left) + operator.end(), swap)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield replaced(begin(node), end(node), str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield replaced(begin(node), end(node), str(node.value + 1))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield replaced(begin(node), end(node), f"bool({data[begin(node.operand) : end(node.operand)].decode()})")
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield replaced(begin(node), end(node), "pass")


def visited(node: ast.AST) -> Iterator[ast.AST]:
    """Yields what a program does: no annotations, decorators, f-strings, messages of errors, or imports for the type checker."""
    skipped: tuple[object, ...] = ()
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        skipped = (*node.decorator_list, getattr(node, "returns", None))
    elif isinstance(node, ast.AnnAssign | ast.arg):
        skipped = (node.annotation,)
    yield node
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from visited(child)


def drawn(room: str, seed: int) -> Iterator[Mutant]:
    """Yields mutants of a room: lines at random, and a mutant of each at random, none twice."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for pattern in ROOMS[room][0]:
        for path in sorted(ROOT.glob(pattern)):
            for mutant in mutants(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")):
                by_line[mutant.file, mutant.line].append(mutant)
    rng = random.Random(f"{room} {seed}")
    lines = sorted(by_line)
    rng.shuffle(lines)
    for line in lines:
        yield rng.choice(by_line[line])


class Copy:
    """A copy of the sources with a suite, where lines are broken."""

    def __init__(self, folder: Path, tests: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file() and not name.startswith("tests/"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        shutil.copytree(tests, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "nainjaune_agents").symlink_to("agents")
        self.environment = os.environ | {"PYTHONPATH": str(folder), "NAINJAUNE_CACHE": str(folder / "cache")}

    def imports(self, file: str) -> bool:
        """Whether a file can be imported."""
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        name = re.sub(r"^agents\b", "nainjaune_agents", name)
        command = [sys.executable, "-c", f"import {name}"]
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False).returncode == 0

    def noticed_by(self, tests: Sequence[str], seconds: int) -> str | None:
        """Returns the test that fails first; the error of the compiler, or none (None)."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not long and not scripts", *tests]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                printed = process.communicate(timeout=seconds)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return f"no end after {seconds} s"
        if process.returncode == 0:
            return None
        if any(error in printed for error in COMPILER_ERRORS):
            return COMPILER_ERRORS[0]
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
        return failed[1] if failed else printed[-300:]

    def try_mutant(self, mutant: Mutant, tests: Sequence[str], seconds: int) -> str | None:
        """Like :meth:`noticed_by`, of a mutant; the file is put back afterwards."""
        path = self.folder / mutant.file
        before = path.read_text(encoding="utf-8")
        path.write_text(mutant.source, encoding="utf-8")
        try:
            return self.noticed_by(tests, seconds) if self.imports(mutant.file) else COMPILER_ERRORS[0]
        finally:
            path.write_text(before, encoding="utf-8")


def tests_of(room: str, file: str) -> list[str]:
    """The tests that must notice a mutant of ``file``; those come first that say so soonest: of the module, of its folder."""
    folder, _, name = file.removesuffix(".py").rpartition("/")
    mirror = re.sub(r"^(?:nainjaune_env|agents)/", "tests/" if folder.startswith("nainjaune_env") else "tests/agents/", folder)
    game = re.match(r"tests/games/\w+", mirror)
    first = [f"{mirror}/test_{name}.py", f"{game[0]}/test_rules.py" if game and game[0] == mirror else mirror]
    return [*(test for test in first if (ROOT / test).exists()), *([game[0]] if game else []), *ROOMS[room][1]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", choices=list(ROOMS))
    parser.add_argument("--count", type=int, default=20, help="mutants in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--before", type=Path, help="the folder of an earlier suite, for mutants that survive")
    parser.add_argument("--seconds", type=int, default=1800, help="a mutant that takes longer is caught (default: %(default)s)")
    options = parser.parse_args(arguments)
    sources = {room: drawn(room, options.seed) for room in options.rooms}
    result: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        now = Copy(Path(folder), ROOT / "tests")
        before = Copy(Path(other), options.before) if options.before else None
        for number in range(options.count):
            room = options.rooms[number % len(options.rooms)]
            for mutant in sources[room]:
                by = now.try_mutant(mutant, tests_of(room, mutant.file), options.seconds)
                if by != COMPILER_ERRORS[0]:
                    break
            else:
                parser.error(f"{room} has fewer mutants")
            outcome = "caught" if by else "SURVIVED"
            if before and not by and (by := before.try_mutant(mutant, tests_of(room, mutant.file), options.seconds)):
                outcome = "LOST"
            result[outcome] += 1
            print(f"{outcome:9} {mutant}" + (f"  by {by}" if by else ""), flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in result.most_common()))
    return 1 if result["LOST"] else 0


if __name__ == "__main__":
    sys.exit(main())
