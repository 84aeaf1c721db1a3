"""Command lines of odd arguments and damaged files: results or a sentence, exit status 2, and every file still there."""

from __future__ import annotations

import argparse
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
from nainjaune_agents.heuristics import heuristics
from nainjaune_env.records.record import write_records
from nainjaune_env.registry import game_names, get_game, make_setup
from tests.support.recorded import play

from .mutations import damage_bytes
from .oracle import Fault, Fuzzer, Tree, check_nothing_lost, check_sentence, tree

SECONDS = 3
"""In the long run, a command is interrupted after this time, as by Ctrl-C."""

TINY = {
    "ppo": {"tables": 16, "critic_hidden": [8]},
    "expert": {"rule": "lowest", "generations": 2, "shards": 2, "shard": 30, "rounds": 8, "deals": 4, "epochs": 2},
    "deep_monte_carlo": {"tables": 16},
    "maskable_ppo": {"tables": 16, "steps": 16, "epochs": 1, "opponents": ["lowest"], "snapshots": 2, "snapshot_every": 2},
}
"""For each trainer the keys of a run of a second."""
SMALL = {"preset": "djeco", "players": 3, "hidden": [8], "minibatch": 32, "eval_deals": 0, "checkpoint_minutes": 0}


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
    found = re.match(r"nainjaune[a-z ]*: (?:error: )?", said)
    if status != 2 or not found:
        raise Fault(f"{where}: expected status 2 and a sentence after the program's name, not {status} and {err[-1500:]!r}")
    check_sentence(said[found.end() :].strip(), where)


VALUES: dict[str, list[str]] = {
    "deals": ["2", "3"], "matches": ["1"], "rounds": ["1", "2"], "iterations": ["0", "1"], "limit": ["1000", "1"], "draws": ["0", "1"],
    "minutes": ["0.001"], "choosing": ["2"], "measuring": ["2"], "seed": ["0", "7"], "threads": ["1", "2"], "error": ["9", "50"], "search": ["2"],
    "players": ["2", "3", "4", "8"], "match": ["1", "2"], "round": ["1", "2"], "seat": ["0", "1", "2"], "ply": ["0", "1", "5"],
    "first": ["0", "1"], "scale": ["0.1", "0.3"], "seconds": ["0.1", "1"], "hold": ["0.1"], "pots": ["0", "4", "9"], "stacks": ["49", "60"],
    "bounds": ["0", "0.5", "1"], "alpha": ["0.05"], "beta": ["0.05"], "hand": ["3", "4", "7♦", "K", "As", "10c", "Qs"],
    "moves": ["1:", "3", "4", "5", "2:", "6", "7♦", "-"], "name": ["me", "strong", "zoo:strong"], "player": ["random:0"], "language": ["fr"],
    "preset": [], "game": [], "set": [], "metric": ["eval/edge", "loss/policy"], "along": ["decisions", "seconds"], "note": ["A note."],
    "title": ["A title"], "names": ["a", "b"],
}  # fmt: skip
"""By the destination of an option: values that are valid somewhere, and cheap."""
FILES = ("good.jsonl", "bad.jsonl", "good.yaml", "bad.yaml", "run", "bad_run", "nowhere", "nowhere/at/all", ".", "empty", "good.jsonl/x")
"""What stands in the working folder, and names of nothing."""
FITTING = {
    ("film", "out"): ("out.png", "out.gif", "out.svg"), ("curves", "out"): ("out.png", "new/out.png"), ("analyse", "out"): ("out.csv",),
    ("curves", "runs"): ("run", "bad_run"), ("zoo", "add"): ("run", "bad_run"), ("train", "config"): ("good.yaml", "bad.yaml"),
    ("", "out"): ("out", "new/out", "run", "bad_run"), ("", "folder"): ("out", "empty"), ("", "records"): ("out.jsonl", "good.jsonl", "bad.jsonl"),
    ("", "file"): ("good.jsonl", "bad.jsonl"), ("", "files"): ("good.jsonl", "bad.jsonl"), ("", "record"): ("good.jsonl", "bad.jsonl"),
}  # fmt: skip
"""By command (empty: the others) and the destination of an argument: files that it may be meant for."""
COSTLY = {"measuring", "worst", "deals", "matches", "rounds", "iterations", "limit", "draws", "minutes", "choosing", "search", "error", "seconds", "hold", "ply"}
"""Large values of these are long runs and not errors."""
JUNK = ("", "-1", "-7", "x", "1.5", "nan", "-inf", "0", "²", "0x10", "1_0", " 3", "é", "\x1b[31m", "a=b", "=", ":", "@", "zoo:", "../../evil", "9" * 300)
LARGE = ("99999999999", "99999999999999999999999", "1e300", "inf", "1e-300", str(2**31), str(2**63), str(2**64))
KEYS = ("tables=16", "tables=99999999999999", "threads=99999999999", "seed=-1", "seed=18446744073709551616", "init=nope", "hidden=[]",
    "hidden=[8]", "hidden=[-1]", "hidden=[99999999999]", "learning_rate=nan", "learning_rate=.inf", "iterations=1", "iterations=0", "preset=classic",
    "players=5", "rules.decline=never", "rules.x=1", "opponents=[x]", "eval_against=nobody", "arch=x", "arch=residual", "max_grad_norm=-1", "stake=2",
    "stake=-2", "decline=always", "announce=explicit", "max_rounds=1", "starting_stack=0", "hand=1", "hand=40", "ranks=4", "suits=1", "memory=perfect",
    "dinosaurs=3", "x", "=", "a=[", "a={", "a=&a [*a]", "&a [*a]=1", "rules=3", "rules=[1]", "algorithm=x", "minibatch=1.5", "minibatch=true")  # fmt: skip
"""For ``--set``: keys of trainers and knobs, valid and not."""
ENDINGS = ("@sample", "@search=2", "@search=nan", "@search=-1", "@x=1", "@", "@remember=0.5", "@remember=x", "@search=2@search=2")
TYPED = ("h", "?", "", "7d", "3", "-", "p", "q", "y", "n", "hint", "x" * 4000, "\x1b[A", "é", "0", "99999999999999999999", "\x00")


class Commands(Fuzzer):
    """Subcommands with valid, odd and contradicting arguments in a folder of valid and damaged files."""

    name = "commands"
    short = 60
    long = 1000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.parsers = {}
        for module in cli.COMMANDS:
            parser = argparse.ArgumentParser(add_help=False)
            module.add_arguments(parser)
            self.parsers[module.NAME] = parser
        others = ["random", "random", "run", "run", "bad_run", "zoo:strong", "exact"]
        self.agents_of = {game: [*heuristics(game), *others] for game in game_names()}
        self.presets = [preset for game in game_names() for preset in get_game(game).presets]
        self.base = folder / "base"
        self._make_base()

    def _make_base(self) -> None:
        self.base.mkdir()
        setups = [make_setup("nain_jaune", "djeco", 2, hand=3, max_rounds=2), make_setup("batasaurus", players=2, dinosaurs=3)]
        write_records(self.base / "good.jsonl", [record for setup in setups for record in play(setup, 1)])
        (self.base / "good.yaml").write_text("algorithm: ppo\npreset: djeco\nplayers: 3\niterations: 1\ntables: 16\nhidden: [8]\n")
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
        words = self._words(rng)
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

    # ---------------------------------------------------------------- words

    def _words(self, rng: random.Random) -> list[str]:
        name = rng.choice([*self.parsers])
        self.agents = self.agents_of[rng.choice([*self.agents_of])]
        words = [name, *SHORT.get(name, [])]
        parser = self.parsers[name]
        sub = next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)
        if sub is not None:
            chosen = rng.choice([*sub.choices])
            words.append(chosen)
            parser = sub.choices[chosen]
        odd = rng.random() < 0.5
        options = [action for action in parser._actions if action.option_strings and not isinstance(action, argparse._HelpAction)]
        used = [action for action in options if action.required or rng.random() < (0.9 if action.dest in ALWAYS else 0.12)]
        for action in parser._actions:
            if not action.option_strings and not isinstance(action, argparse._HelpAction):
                words += self._values(name, action, odd, rng)
        for action in used:
            words += [rng.choice(action.option_strings), *self._values(name, action, odd, rng)]
        if rng.random() < 0.05:
            words.insert(rng.randrange(len(words) + 1), rng.choice(JUNK))
        return words

    def _values(self, command: str, action: argparse.Action, odd: bool, rng: random.Random) -> list[str]:
        fewest, most = {None: (1, 1), "+": (1, 4), "*": (0, 3), "?": (0, 1), 0: (0, 0)}.get(action.nargs, (action.nargs, action.nargs))  # type: ignore[call-overload, misc]
        return [self._value(command, action, odd, rng) for _ in range(rng.randint(fewest, most))]

    def _value(self, command: str, action: argparse.Action, odd: bool, rng: random.Random) -> str:
        if odd and rng.random() < 0.25:
            large = action.dest not in COSTLY or self.thorough
            return rng.choice((*JUNK, *LARGE, *LARGE) if large else JUNK)
        if action.choices:
            return str(rng.choice([*action.choices]))
        fitting = FITTING.get((command, action.dest)) or FITTING.get(("", action.dest))
        if fitting and rng.random() < 0.8:
            return rng.choice(fitting)
        if action.dest == "preset":
            return rng.choice(self.presets)
        if action.dest == "game":
            return rng.choice(game_names())
        if action.dest == "set":
            return rng.choice(KEYS)
        if action.metavar in ("AGENT", ("A", "B")) or action.dest in ("agents", "against", "versus"):
            return rng.choice(self.agents) + (rng.choice(ENDINGS) if rng.random() < 0.2 else "")
        if VALUES.get(action.dest):
            return rng.choice(VALUES[action.dest])
        if action.type in (int, float):
            return rng.choice(("0", "1", "2"))
        return rng.choice(FILES)


SHORT = {"train": [f"--set={key}" for key in ("iterations=1", "tables=16", "hidden=[8]", "eval_deals=2")], "exploit": ["--iterations=1"]}
"""What makes a command short; later words override it."""
ALWAYS = {"out", "agents", "deals", "matches", "rounds", "minutes", "iterations", "choosing", "measuring", "error", "record", "hand", "scale", "config", "limit"}
"""Options that most commands need to begin at all, or to be short."""
