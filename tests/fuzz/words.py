"""The words of command lines: values that options take, files, and what fits nowhere."""

from __future__ import annotations

import argparse
import random
from typing import Any

from nainjaune_agents.cli import main as cli
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.registry import game_names, get_game

split = str.split

VALUES = {
    name: split(values)
    for name, values in {
        "deals": "2 3", "matches": "1", "rounds": "1 2", "iterations": "0 1", "limit": "1000 1", "draws": "0 1",
        "minutes": "0.001",
        "choosing": "2", "measuring": "2", "seed": "0 7", "threads": "1 2", "error": "9 50", "search": "2", "players": "2 3 4 8",
        "match": "1 2", "round": "1 2", "seat": "0 1 2", "ply": "0 1 5", "first": "0 1", "scale": "0.1 0.3", "seconds": "0.1 1",
        "hold": "0.1", "pots": "0 4 9", "stacks": "49 60", "bounds": "0 0.5 1", "alpha": "0.05", "beta": "0.05",
        "hand": "3 4 7♦ K As 10c Qs", "moves": "1: 3 4 5 2: 6 7♦ -", "name": "me strong zoo:strong", "player": "seat0",
        "metric": "eval/edge run/seconds loss/policy", "along": "decisions seconds", "note": "Note.",
        "title": "Title", "names": "a b",
    }.items()
}  # fmt: skip
"""By the destination of an option: values that are valid somewhere, and cheap."""
FILES = split("good.jsonl bad.jsonl good.yaml bad.yaml run bad_run nowhere nowhere/at/all . empty good.jsonl/x")
"""What stands in the working folder, and names of nothing."""
FITTING = {
    place: split(files)
    for place, files in {
        "film.out": "out.png out.gif out.svg", "curves.out": "out.png new/out.png", "analyse.out": "out.csv",
        "curves.runs": "run bad_run", "zoo.add": "run bad_run", "train.config": "good.yaml bad.yaml",
        "out": "out new/out run bad_run",
        "folder": "out empty", "records": "out.jsonl good.jsonl bad.jsonl", "file": "good.jsonl bad.jsonl",
        "files": "good.jsonl bad.jsonl", "record": "good.jsonl bad.jsonl",
    }.items()
}  # fmt: skip
"""By the destination of an argument, after a command where that matters: files that it may be meant for."""
COSTLY = set(split("measuring worst deals matches rounds iterations limit draws minutes choosing search error seconds hold ply"))
"""Large values of these are long runs and not errors."""
JUNK = [
    "",
    *split("-1 -7 x 1.5 nan -inf 0 ² 0x10 1_0 é \x1b[31m a=b = : @ zoo: ../../evil", " "),
    " 3",
    "9" * 300,
    "a\0b",
    "a\ud800b",
    "a\udcffb",
]
LARGE = ["99999999999", "99999999999999999999999", "1e300", "inf", "1e-300", str(2**31), str(2**63), str(2**64)]
KEYS = split(
    "tables=16 tables=99999999999999 threads=99999999999 seed=-1 seed=18446744073709551616 init=nope arch.hidden=[] "
    "arch.hidden=[8] "
    "arch.hidden=[-1] hidden=[8] optimizer.learning_rate=nan optimizer.learning_rate=.inf "
    "iterations=1 iterations=0 preset=classic players=5 "
    "rules.decline=never rules.x=1 opponents=[x] eval_against=nobody arch=x arch.name=residual max_grad_norm=-1 stake=2 stake=-2 "
    "decline=always announce=explicit max_rounds=1 starting_stack=0 hand=1 hand=40 ranks=4 suits=1 memory=perfect dinosaurs=3 x "
    "= a=[ a={ a=&a[*a] &a=1 rules=3 rules=[1] algorithm=x minibatch=1.5 minibatch=true seed=18446744073709551616"
)
"""For ``--set``: keys of trainers and knobs, valid and not."""
ENDINGS = split("@sample @search=2 @search=nan @search=-1 @x=1 @ @remember=0.5 @remember=x @search=2@search=2")
OTHER_AGENTS = split("random random run run bad_run zoo:strong exact")
SHORT = {
    "train": [f"--set={key}" for key in ("iterations=1", "tables=16", "arch.hidden=[8]", "eval_deals=2")],
    "exploit": ["--iterations=1"],
    "view": ["--html=seen.html"],  # else a browser opens
}
"""What makes a command short and quiet; later words override it."""
USUAL = set(split("out agents deals matches rounds minutes iterations choosing measuring error record hand scale config limit"))
"""Options that most commands need to begin at all, or to be short."""


class Grammar:
    """Draws command lines from the parsers of the subcommands."""

    def __init__(self, *, costly: bool) -> None:
        """``costly``: also large numbers where they mean a long run."""
        self.costly = costly
        self.parsers = {}
        for module in cli.COMMANDS:
            # they run until they are stopped; messages are fuzzed by tests of their own
            if module.NAME in ("serve", "mcp", "watch"):
                continue
            parser = argparse.ArgumentParser(add_help=False)
            module.add_arguments(parser)
            self.parsers[module.NAME] = parser
        self.presets = [preset for game in game_names() for preset in get_game(game).presets]

    def line(self, rng: random.Random) -> list[str]:
        """Returns a subcommand and its arguments; half of the lines have no odd one."""
        command = rng.choice([*self.parsers])
        words, parser = [command, *SHORT.get(command, [])], self.parsers[command]
        agents = [*heuristics(rng.choice(game_names())), *OTHER_AGENTS]
        odd = rng.random() < 0.5
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                chosen = rng.choice([*action.choices])
                words.append(chosen)
                parser = action.choices[chosen]
        for action in parser._actions:
            usual = action.required or rng.random() < (0.9 if action.dest in USUAL else 0.12)
            if isinstance(action, argparse._SubParsersAction) or (action.option_strings and not usual):
                continue
            if action.help == argparse.SUPPRESS:  # a former option, which is refused
                continue
            if action.option_strings:
                words.append(rng.choice(action.option_strings))
            words += [self._value(command, action, agents, odd, rng) for _ in range(self._number(action, rng))]
        if odd and rng.random() < 0.1:
            words.insert(rng.randrange(len(words) + 1), rng.choice(JUNK))
        return words

    @staticmethod
    def _number(action: argparse.Action, rng: random.Random) -> int:
        if isinstance(action.nargs, int):
            return action.nargs
        return rng.randint(*{None: (1, 1), "+": (1, 4), "*": (0, 3), "?": (0, 1)}[action.nargs])

    def _value(self, command: str, action: Any, agents: list[str], odd: bool, rng: random.Random) -> str:
        if odd and rng.random() < 0.25:
            return rng.choice([*JUNK, *LARGE, *LARGE] if self.costly or action.dest not in COSTLY else JUNK)
        if action.choices:
            return str(rng.choice([*action.choices]))
        if action.dest == "set":
            return rng.choice(KEYS)
        if action.dest in ("agents", "against", "target", "search_by", "responders"):
            return rng.choice(agents) + (rng.choice(ENDINGS) if rng.random() < 0.2 else "")
        named = {"preset": self.presets, "game": game_names(), **VALUES}.get(action.dest)
        if named:
            return rng.choice(named)
        fitting = FITTING.get(f"{command}.{action.dest}") or FITTING.get(action.dest)
        if fitting and rng.random() < 0.8:
            return rng.choice(fitting)
        return rng.choice(("0", "1", "2")) if action.type in (int, float) else rng.choice(FILES)
