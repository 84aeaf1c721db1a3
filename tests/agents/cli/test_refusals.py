"""What commands refuse: each mistake is told in a sentence, before anything runs, and leaves the folder as it was."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from nainjaune_agents.study.exact import tree
from nainjaune_env.core.extras import install_command
from nainjaune_env.render.raster import font_files
from tests.agents.cli.command import Capture, refused

REFUSED: dict[str, list[tuple[str, str]]] = {
    "advise": [
        ("", "Expected a position, as in --hand A 3 5 7♦ …, or a move of a match"),
        (
            "--preset batasaurus --hand 1 2 3",
            r"A position of Batasaurus cannot be written: give a record, a match, a round and a move\.",
        ),
        ("--hand A 2 3", r"each is dealt 12 cards; seat 0 holds 3 and has played 0\."),
        ("--hand A 2 3 3 5 7♦ 8 9 10 10 V♣ D --move 3", r"--move needs a file of records: add --record FILE\."),
        (
            "--hand A 2 3 3 5 7♦ 8 9 10 10 V♣ D --model tally --agents lowest lowest",
            r"Expected 1 or 3 other agents at a table with 4 seats, not 2\.",
        ),
    ],
    "advise --record {file} --move": [
        ("1 --hand A", "--hand cannot be combined with --record"),
        ("2 --round 9", r"There is no decision in round 9; rounds with decisions: 1, 2\."),
        ("1 --match 5", r"matches\.jsonl holds 2 matches, so there is no match 5\."),
    ],
    "analyse {file}": [
        ("--seat 7", "has no such decision: there are 2 matches, seats 0 to 3, and the players "),
        ("--model tally lowest", "Expected 1 or 4 agents at a table with 4 seats, not 2."),
    ],
    "analyse": [("empty.jsonl", "has no such decision: it is empty.")],
    "bot check": [
        ("", "required: BOT"),
        ("README.md", "There is no program 'README.md'"),
        ("cat --preset clasic", "Unknown preset 'clasic'"),
    ],
    "evaluate": [
        ("--agents lowest", "two or more agents of different names"),
        ("--agents lowest random --control-variates", "need a field that always acts alike"),
        ("--agents lowest tally --control-variates --start carried", "not for own payoff, carried start"),
        ("--agents lowest tally random --until-decided", "--until-decided compares two agents, and there are 3"),
        ("--agents lowest tally random --players 2 --preset djeco --one-table", "At one table there are 2 to 2 agents"),
        ("--agents lowest lowest", r"agents of different names, not \['lowest', 'lowest'\]"),
        ("--agents lowest lowset", r"Unknown agent 'lowset'\. Did you mean 'lowest'\?"),
        ("--agents lowest runs/none", "There is no run or checkpoint at 'runs/none'"),
    ],
    "evaluate --agents lowest random": [
        ("--preset clasic", r"Unknown preset 'clasic'\. Did you mean 'classic'\?"),
        ("--players 9", "for 2 to 4 players, not 9"),
        ("--preset classic --set max_rounds=null --records m.jsonl", "has no end"),
        ("--matches 1", r"--matches is the number of matches to record: it goes with --records\."),
        ("--set stake=2 --set stake=3", r"The key 'stake' is set twice, by 'stake=2' and 'stake=3'"),
        ("--out=", r"Argument --out: expected a path, not ''\."),
        ("--start pots=1,2", r"Unknown start 'pots=1,2'\. .*pots=LOW\.\.HIGH"),
        ("--rounds 3", r"--rounds is the length of matches: it goes with --episode match\."),
        ("--episode match --records m", r"--episode match cannot be combined with --records\."),
        ("--deals 2 --out file", "File exists|Not a directory"),
        ("--deals 2 --records file/m.jsonl", "File exists|Not a directory"),
    ],
    "evaluate --agents random lowest --deals 4": [
        ("--shard 0/3 --out a", "Argument --shard: expected a part and the number of parts, as in 3/100, not '0/3'"),
        ("--shard 1/3", r"--shard leaves its part in a folder: it needs --out\."),
        ("--shard 1/3 --out a --records m", r"--shard cannot be combined with --records\."),
        ("--workers 2 --cluster auto", "--workers are processes of this machine, and --cluster is another place to play"),
        ("--shard 1/3 --out a --verify 3", r"--shard cannot be combined with --verify\."),
        ("--until-decided --shard 1/2 --out a", r"--until-decided cannot be combined with --shard\."),
        ("--until-decided --one-way", r"--until-decided cannot be combined with --one-way\."),
        ("--until-decided --bounds 1 0", r"two finite numbers, the lower one first, not 1\.0 and 0\.0"),
        ("--until-decided --alpha 0.5", r"error rates are above 0 and below 0\.5, not 0\.5 and 0\.05"),
        ("--bounds 0 0.1", "--bounds belongs to a sequential test: it needs --until-decided"),
        ("--control-variates --one-table", r"--control-variates cannot be combined with --one-table\."),
        ("--episode match --control-variates", r"--episode match cannot be combined with --control-variates\."),
        ("--episode match --device cuda", r"--episode match goes without --device cuda\."),
        ("--verify 3", "--verify is about what was played into --out, and there is none"),
        ("--only-read", "--only-read is about what was played into --out, and there is none"),
        ("--only-read --out a --workers 2", r"--only-read plays nothing: it cannot be combined with --workers\."),
        ("--cluster here", r"A cluster's address is host:port or auto, not 'here'\."),
    ],
    "exact --preset batasaurus --players 2 --set memory=perfect": [
        ("--limit 1000", r"more than the 1,000 nodes that are allowed\. A shorter game fits: --set dinosaurs=3\."),
        ("--agents lowset", r"Unknown agent 'lowset'\..*Valid: random, .*exact[,.]"),
        ("--agents random random", r"Each agent is named once, not as in \['random', 'random'\]"),
        ("--first 2", r"Expected --first to be a seat from 0 to 1, not 2\."),
    ],
    "exact": [
        ("--preset batasaurus", r"There are more than 1,000 openings, too many .* A shorter game fits: --set dinosaurs=4\."),
        ("--preset classic", r"There are more than 1,000 openings, too many to list: docs/exact\.md has rules with fewer\."),
        ("--preset batasaurus --players 3 --agents exact", "'exact' plays with 2 players and memory = perfect, not with 3"),
        ("--agents exact", "Unknown agent 'exact'"),
        ("--preset batasaurus --solve --out x", r"no solution is known here\. Known: 2 players, memory = perfect\."),
    ],
    "exact --preset batasaurus --players 2 --set memory=perfect --solve": [
        ("--iterations 9", "--solve prints"),
        ("--draws 5", "--solve prints"),
    ],
    "exploit lowest": [
        ("--train tabels=3 --out found", r"Unknown key 'tabels'\. Did you mean 'tables'\?"),
        ("--train iterations=3 --out found", "--train iterations=… sets what the arguments of exploit say"),
        ("--iterations 1 --resume --out found", "There is nothing to resume at 'found'"),
        (
            "--responders tally tally --out found",
            r"The agent and all candidates must have different names, not \['lowest', 'tally', 'tally'\]",
        ),
    ],
    "film": [
        ("--out x.gif --agents random --scale 1e-9", "expected a number from 0.02 to 8"),
        ("--out x.jpg --agents random", r"--out must end in \.gif, \.png, \.svg, not 'x\.jpg'"),
        ("--out x.gif", "file of records or the agents"),
        ("--out x.png --agents random --ply 1000", r"--ply must be from 0 to \d+ in this round, not 1000"),
    ],
    "film --out x.gif --agents random": [
        ("random random random random", "4 seats, too few for 5 agents"),
        ("--seat 4", "--seat must be from 0 to 3, not 4"),
        ("--ply 3", r"--ply is for \.png or \.svg, and cannot be used for \.gif"),
        ("--match 2", "--match is for a file of records"),
    ],
    "film {file}": [
        ("--out x.svg --scale 2", r"--scale is for \.gif or \.png, and cannot be used for \.svg"),
        ("--out kept.svg", r"'kept\.svg' exists, and is not overwritten: choose another --out\."),
        ("--out x.gif --seed 0", "--seed is for a new round"),
    ],
    "ladder x": [("--seed 1", "--seed is what --check draws"), ("--workers 2 --cluster auto", "give one of them")],
    "play --pace=0": [
        ("--preset classic --set max_rounds=null --match", "A match under these rules has no end"),
        ("--agents lowest random", r"At a table of 4, --agents takes 1 or 3 names, not 2\."),
        ("--seat 4", r"The person's seat is from 0 to 3, not 4\."),
        ("--records file", r"file, line 1: Expected a record as JSON: .* Nothing is added to such a file\."),
    ],
    "record": [("verify empty.jsonl", r"empty\.jsonl holds no record\.")],
    "record show": [
        ("{file} --round 3", r"The record has rounds 1 to 2, and no round 3\."),
        ("", r"\. See nainjaune record.* --help\."),
    ],
    "serve --no-browser --data t.sqlite --agents random": [
        ("nosuch", "Unknown agent 'nosuch'"),
        ("runs/none", "There is no run or checkpoint at 'runs/none'"),
    ],
    "study --preset classic --players 3 --set max_rounds=2": [
        ("--rounds 5 --out s", "Expected agents that play, as in --agents tally lowest"),
        (
            "--agents lowest --out s",
            "Expected a number of rounds or matches and a folder, as in --rounds 10000 --out studies/first",
        ),
        ("--agents lowest --rounds 5 --out .", "exists, and is not overwritten"),
        ("--agents lowest tally --rounds 5 --out s --seating fixed", "one agent, or 3 in the order of the seats, not 2"),
    ],
    "study --agents lowest --rounds 5 --out s": [
        ("--search-share 0.5", "--search-by and --search-share need --search K"),
    ],
    "train": [
        ("c.yaml", "Training takes --out, the folder for the run"),
        ("none.yaml --out a", r"There is no configuration at 'none\.yaml'\."),
        ("--out a --resume", r"There is no configuration at 'a/config\.yaml'"),
        ("c.yaml --out c.yaml", r"'c\.yaml' already exists"),
    ],
    "train c.yaml --out a": [
        ("--set iteratons=2", r"Unknown key 'iteratons'\. Did you mean 'iterations'\?"),
        ("--cluster foo", r"--cluster is for the algorithm expert, and this is 'ppo'\."),
        ("--set preset=clasic", "Unknown preset 'clasic'"),
        ("--set eval_against=lowset", "Unknown agent 'lowset'"),
        ("--resume", "There is no run to resume at 'a'"),
        ("--set rules.stake=[1,2]", "The knob 'stake' is a whole number"),
        ("--set init=nope", r"There is no checkpoint at 'nope'\."),
    ],
    "view": [
        ("{file} --html a.txt", r"--html must end in \.html"),
        ("file --html a.html", "file, line 1: Expected a record as JSON"),
    ],
    "watch": [("--agents longest", "from 2 agents to as many as there are seats, 4, not 1")],
}
"""By the beginning of the command: how it goes on, and what is said; ``{file}`` is a file of two matches of four seats."""


@pytest.mark.parametrize(
    ("words", "says"), [(f"{command} {more}", says) for command, rows in REFUSED.items() for more, says in rows]
)
def test_a_mistake_is_a_sentence(words: str, says: str, capfd: Capture, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_OPENINGS", 1000)  # or exact would list openings for a while
    for name, content in (("file", "shopping list\n"), ("empty.jsonl", ""), ("c.yaml", "players: 3\n"), ("kept.svg", "")):
        Path(name).write_text(content, encoding="utf-8")
    refused(capfd, words.replace("{file}", str(file)), says, printed=words.startswith("ex"))


@pytest.mark.parametrize(
    ("words", "library", "extra", "module"),
    [
        ("export zoo:strong --onnx x.onnx --preset djeco", "onnx", "onnx", "nainjaune_agents.players.networks.onnx_export"),
        ("film --agents random --out x.gif", "resvg_py", "render", ""),
        ("sweep c.yaml --search 1 --space s.yaml --out o", "optuna", "optuna", "nainjaune_agents.train.sweeps.search"),
        ("serve --no-browser --data t.sqlite", "tornado", "serve", "nainjaune_agents.tables.server.app"),
        ("study --agents lowest --rounds 5 --out s", "pyarrow", "study", "nainjaune_agents.study.files"),
    ],
)
def test_the_extra_of_a_missing_library_is_named(
    words: str, library: str, extra: str, module: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    font_files.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == library or name == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    refused(capfd, words, rf"needs the package '{library}', which is not installed: {re.escape(install_command(extra))}")
