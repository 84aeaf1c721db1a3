"""Command lines of odd arguments and damaged files: results or a sentence, exit status 2, and every file still there."""

from __future__ import annotations

import contextlib
import io
import random
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nainjaune_agents.cli import main as cli
from nainjaune_env.records.record import write_records
from nainjaune_env.registry import make_setup
from tests.support.recorded import play

from .mutations import damage_bytes
from .oracle import Fault, Fuzzer, Tree, check_nothing_lost, check_sentence, tree
from .words import Grammar

SECONDS = 3
"""In the long run, a command is interrupted after this time, as by Ctrl-C."""

TINY = {
    "ppo": {"tables": 16, "critic_hidden": [8]},
    "vine": {"tables": 16},
    "expert": {"rule": "lowest", "generations": 2, "shards": 2, "shard": 30, "rounds": 8, "deals": 4, "epochs": 2},
    "deep_monte_carlo": {"tables": 16},
    "maskable_ppo": {"tables": 16, "steps": 16, "epochs": 1, "opponents": {"lowest": 0.5, "past": 0.5}},
}
"""For each trainer the keys of a run of a second."""
SMALL = {"preset": "djeco", "players": 3, "arch": {"hidden": [8]}, "minibatch": 32, "eval_deals": 0, "checkpoint_minutes": 0}


def tiny_run(algorithm: str, iterations: int, **keys: Any) -> list[str]:
    """Returns the settings of a tiny run, as ``train`` takes them."""
    length = {} if algorithm == "expert" else {"iterations": iterations}
    settings = {"algorithm": algorithm, **SMALL, **TINY[algorithm], **length, **keys}
    return [f"--set={key}={str(value).replace(' ', '')}" for key, value in settings.items()]


@contextlib.contextmanager
def streams(typed: str = "") -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Within this context stdout and stderr are collected, and ``typed`` is stdin."""
    out, err, given = (io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", write_through=True) for text in ("", "", typed))
    before = sys.stdin
    sys.stdin = given
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield out, err
    finally:
        sys.stdin = before


def run_command(words: list[str], typed: str = "") -> tuple[int, str]:
    """Runs ``nainjaune`` within this process; returns its exit status and what it wrote to stderr."""
    with streams(typed) as (_, err):
        try:
            status = cli.main(words)
        except SystemExit as stopped:
            status = stopped.code if isinstance(stopped.code, int) else 1
        written = err.buffer.getvalue().decode(errors="replace")  # type: ignore[attr-defined]
    return status, written


def check_status(status: int, err: str, where: str) -> None:
    """Raises :class:`Fault` unless the command succeeded, was stopped, or ended with one sentence and status 2."""
    if status in (0, 130):
        if "Traceback" in err:
            raise Fault(f"{where}: status {status}, and a traceback: {err[-1500:]}")
        return
    said = re.split(r"[\r\n](?=nainjaune)|^(?=nainjaune)", err)[-1]
    result = re.match(r"nainjaune[a-z -]*: (?:error: )?", said)
    if status != 2 or not result:
        raise Fault(f"{where}: expected status 2 and a sentence after the program's name, not {status} and {err[-1500:]!r}")
    check_sentence(said[result.end() :].strip(), where)


TYPED = ["", "h", "?", "7d", "3", "-", "p", "q", "y", "n", "hint", "\x1b[A", "é", "0", "9" * 20, "\x00", "x" * 4000]
"""What a person may type."""


class Commands(Fuzzer):
    """Subcommands with valid, odd and contradicting arguments in a folder of valid and damaged files."""

    name = "commands"
    short = 10
    long = 1000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.grammar = Grammar(costly=thorough)
        self.base = folder / "base"
        self._make_base()

    def _make_base(self) -> None:
        self.base.mkdir()
        setups = [make_setup("nain_jaune", "djeco", 2, hand=3, max_rounds=2), make_setup("batasaurus", players=2, dinosaurs=3)]
        write_records(self.base / "good.jsonl", [record for setup in setups for record in play(setup, 1)])
        (self.base / "good.yaml").write_text(
            "algorithm: ppo\npreset: djeco\nplayers: 3\niterations: 1\ntables: 16\narch: {hidden: [8]}\n"
        )
        (self.base / "empty").mkdir()
        status, err = run_command(["train", "--out", str(self.base / "run"), *tiny_run("ppo", 2, eval_deals=2, eval_every=1)])
        assert status == 0, err

    def case(self, rng: random.Random) -> None:
        outer = self.folder / "outer"
        inner = outer / "a" / "b" / "work"
        shutil.copytree(self.base, inner)
        try:
            self._damage(inner, rng)
            self._run(inner, outer, rng)
        finally:
            shutil.rmtree(outer)

    def _damage(self, inner: Path, rng: random.Random) -> None:
        shutil.copytree(inner / "run", inner / "bad_run")
        damaged = rng.choice(sorted((inner / "bad_run").iterdir()))
        kind = rng.random()
        if kind < 0.8:
            damaged.write_bytes(damage_bytes(damaged.read_bytes(), rng))
        else:
            damaged.unlink()
            if kind < 0.9:
                damaged.symlink_to("nowhere")
        for name in ("good.jsonl", "good.yaml"):
            (inner / name.replace("good", "bad")).write_bytes(damage_bytes((inner / name).read_bytes(), rng))

    def _run(self, inner: Path, outer: Path, rng: random.Random) -> None:
        words = self.grammar.line(rng)
        typed = "\n".join(rng.choice(TYPED) for _ in range(rng.randrange(12)))
        where = f"nainjaune {' '.join(map(repr, words))}"
        before = tree(outer)
        with contextlib.chdir(inner), self._time_limit():
            try:
                status, err = run_command(words, typed)
            except KeyboardInterrupt:  # before or after the command's own handling
                return
            except Exception as error:
                raise Fault(f"{where}: {type(error).__name__}: {str(error)[:1000]}") from error
        check_status(status, err, where)
        self._check_files(before, tree(outer), status, words, where)

    def _check_files(self, before: Tree, after: Tree, status: int, words: list[str], where: str) -> None:
        """Nothing is lost, nothing is made outside the working folder, and a refused command leaves nothing behind."""
        work = Path("a/b/work")
        resumed = [work / name for name in ("run", "bad_run", ".") if name in words and "--resume" in words]
        appended = [path for path in before if words[0] == "play" and path.name in words and after.get(path, b"") != before[path]]
        for path in appended:
            if not (after.get(path) or b"").startswith(before[path] or b""):
                raise Fault(f"{where}: what was in {path} is altered")
        check_nothing_lost(before, after, where, may_change=[*resumed, *appended])
        new = [path for path in after.keys() - before.keys() if not any(folder in path.parents for folder in resumed)]
        outside = [path for path in new if work not in path.parents]
        if outside:
            raise Fault(f"{where}: files outside the working folder: {sorted(map(str, outside))}")
        if status == 2 and new:
            raise Fault(f"{where}: refused, and {sorted(map(str, new))} stay behind")

    @contextlib.contextmanager
    def _time_limit(self) -> Iterator[None]:
        if not self.thorough:
            yield
            return

        def interrupt(number: int, frame: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.alarm(SECONDS)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
