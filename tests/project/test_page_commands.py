"""What pages show can be typed: commands parse, the configurations that they name exist and have the keys that they set.

Nothing is trained or played here; the lab notebook is left out, since its commands are those of their day.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import command_line
from nainjaune_agents.cli.parser import Parser
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import apply_settings, build, read_yaml
from nainjaune_agents.train.sweeps.grid import read_sweep, runs_of
from tests.support.source import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/adaptors/*.md")]
BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
SCRIPTS = {"train.py": "train", "evaluate.py": "evaluate"}
"""Script in the repository -> the subcommand that it runs."""
FILE = re.compile(r"(?<![\w/.])(?:agents|nainjaune_env|benchmarks|examples|tests|configs)/[\w/.]+\.(?:py|sh|yaml|json)\b")
CODE = ("agents", "benchmarks", "configs", "examples", "nainjaune_env", "notebooks")
PAGE = re.compile(r"\bdocs/[\w/]+\.md\b")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|…")
"""A word that stands for others, as in ``--preset SHEET``; a command with one is not complete."""


def commands(page: Path) -> Iterator[str]:
    """The commands of this package in the page's blocks without a language, each on one line."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            match = re.search(r"(?:^|\$ |=\S+ )nainjaune (\w+(?!:)\b.*)|(?:^|\s)(train\.py|evaluate\.py) (.*)", line)
            if match and not PLACEHOLDER.search(command := match[1] or f"{SCRIPTS[match[2]]} {match[3]}"):
                yield command


CASES = [pytest.param(command, id=f"{page.stem}: {command}") for page in sorted(PAGES) for command in commands(page)]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return command_line("nainjaune")


def test_pages_show_commands() -> None:
    assert len(CASES) > 60


def test_files_that_pages_name_exist() -> None:
    named = {(page.name, path) for page in PAGES for path in FILE.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 50
    assert sorted(f"{page} names {path}" for page, path in named if not (ROOT / path).is_file()) == []


def test_pages_that_code_names_exist() -> None:
    code = [path for folder in CODE for path in ROOT.glob(f"{folder}/**/*") if path.suffix in (".py", ".yaml", ".ipynb")]
    named = {(path.name, page) for path in code for page in PAGE.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert sorted(f"{name} names {page}" for name, page in named if not (ROOT / page).is_file()) == []


def test_targets_that_the_readme_names_exist() -> None:
    targets = re.findall(r"^make ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    assert targets


def test_links_lead_to_files() -> None:
    links = {(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))}
    assert sorted(f"{page.name} points to {link}" for page, link in links if not (page.parent / link).exists()) == []
    for page in ROOT.glob("docs/adaptors/[a-z]*.md"):
        assert (page.with_name("README.md"), page.name) in links, "the overview has every page"


@pytest.mark.parametrize("command", CASES)
def test_a_command_parses(command: str, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(command, comments=True)
    args = parser.parse_args(words)
    if words[0] == "sweep":
        monkeypatch.chdir(ROOT)
        runs_of(read_sweep(args.config).cells(), args.set, [0], Path("nowhere"))
    elif words[0] == "train" and args.config is not None:
        settings = [setting for setting in getattr(args, "set", []) if "runs/" not in setting]  # runs of the page
        values = read_yaml(ROOT / args.config)
        build(get_trainer(values.get("algorithm", "ppo")).Config, apply_settings(values, settings))
