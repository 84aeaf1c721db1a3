"""``nainjaune play``: what its arguments do, and that every error is a sentence before anything is dealt."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.tables.terminal.saved import save_match, saved_path
from nainjaune_env.records.record import read_records
from tests.agents.cli.command import Capture, nainjaune, refused
from tests.agents.players.networks.test_checkpoint import make
from tests.agents.tables.terminal.test_saved import MATCH
from tests.support.positions import small
from tests.support.source import ROOT


def play(capfd: Capture, monkeypatch: pytest.MonkeyPatch, words: str, typed: str = "") -> tuple[int, str, str]:
    """The exit status, what was printed, and what went to stderr, where ``typed`` is the whole input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return nainjaune(capfd, f"play --pace=0 {words}")


def test_the_page_shows_what_is_shown(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    command, screen = re.findall(r"```text\n\$ nainjaune play ([^\n]*)\n(.*?)```", page, re.DOTALL)[0]
    status, out, _ = play(capfd, monkeypatch, command)
    assert status == 0
    assert out.startswith(screen.rstrip("\n"))
    assert len(screen.splitlines()) > 30


def test_the_page_has_every_option(capfd: Capture) -> None:
    page = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["play", "--help"])
    for option in set(re.findall(r"(--[a-z-]+)", capfd.readouterr().out)) - {"--help"}:
        assert option in page, option


def test_without_a_seed_another_one_every_time(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = {re.findall(r"--seed (\d+)", play(capfd, monkeypatch, "")[1])[0] for _ in range(2)}
    assert len(seeds) == 2


def test_seats_agents_names_and_language(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--preset classic --players 3 --agents lowest random --seat 1 --lang fr --seed 2"
    status, out, _ = play(capfd, monkeypatch, words)
    assert status == 0
    assert "À la table : place 0 (lowest), place 1 (vous), place 2 (random)." in " ".join(out.split())


def test_a_preset_says_which_game(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = play(capfd, monkeypatch, "--preset batasaurus --agents highest --seed 5", "\n3\n\n")
    assert status == 0
    assert "Memorise this: you will not see it again." in out
    assert "the card in slot 3   Press Enter to play it" in out
    assert re.search(r"seat 0 \(you\) +Diplodocus \(11\), slot 3", out)


def test_a_run_is_played_under_its_own_rules(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    own = small()
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(own))
    status, out, _ = play(capfd, monkeypatch, "--agents runs/a --rounds 1")
    assert status == 0
    assert f"the {own.preset!r} sheet" in out
    assert f"seat {own.players - 1} (runs/a)" in out


def test_records_are_added_to_what_is_there(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finished round by itself is one, whoever left afterwards."""
    words = "--seed 3 --agents tally --rounds 3 --records deep/mine.jsonl --name Zoé --no-confirm"
    typed = "".join(f"{text}\n" for text in ["q", "y"])
    for number in (1, 2):
        status, out, err = play(capfd, monkeypatch, words, typed)  # tally goes out before anybody else has played a card
        assert (status, err) == (0, "")
        assert "Record added to deep/mine.jsonl." in out
        assert "You have left the table." in out
        records = list(read_records("deep/mine.jsonl"))
        assert len(records) == number
        assert records[-1]["agents"] == ["Zoé", "tally", "tally", "tally"]
    assert os.listdir("deep") == ["mine.jsonl"]


def test_a_match_that_was_left_is_resumed(state_home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--preset classic --players 3 --agents random --rounds 2 --seed 4 --name Zoé --records mine.jsonl --no-confirm"
    kept = state_home / "nainjaune-env" / "play.json"

    typed: list[str] = []
    status, out, _ = play(capfd, monkeypatch, words)
    assert status == 0
    assert not kept.exists()  # nothing was played
    for _ in range(3):  # the first legal move of each menu
        menu = re.split(r"^(?:Wanted|You have the lead)[^\n]*\n", out, flags=re.MULTILINE)[-1]
        typed.append(menu.split()[0])
        kept.unlink(missing_ok=True)
        _, out, _ = play(capfd, monkeypatch, words, "".join(f"{text}\n" for text in typed))
    assert kept.is_file()
    assert "The match is kept: nainjaune play --resume goes on with it." in out
    assert "is not recorded" not in out
    before = kept.read_bytes()

    status, out, _ = play(capfd, monkeypatch, "--resume --lang fr")
    assert status == 0
    assert "La partie que vous avez quittée continue." in out
    assert kept.read_bytes() == before
    assert "A match that you left is kept" in play(capfd, monkeypatch, "--seed 1")[1]
    assert kept.read_bytes() == before
    refused(capfd, "play --resume --seed 4", "--seed cannot be combined with --resume: the match that was left has it already.")

    for _ in range(200):  # to its end, a move at a time
        status, out, _ = play(capfd, monkeypatch, "--resume --no-confirm")
        last = re.split(r"^(?:Wanted|You have the lead)[^\n]*\n", out, flags=re.MULTILINE)[-1]
        status, out, err = play(capfd, monkeypatch, "--resume --no-confirm", f"{last.split()[0]}\n\n")
        assert (status, err) == (0, "")
        if not kept.exists():
            break
    assert len(list(read_records("mine.jsonl"))) == 2
    assert "Standings" in out
    assert list(read_records("mine.jsonl"))[1]["agents"] == ["Zoé", "random", "random"]
    refused(capfd, "play --resume", "There is no match that was left at ")


def test_a_hint_is_a_legal_move_and_changes_nothing(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--seed 5 --seat 3 --agents random --no-confirm --set decline=always"
    status, out, err = play(capfd, monkeypatch, words, "hint\n")
    assert (status, err) == (0, "")
    hints = re.findall(r"Hint: [^\n]*\. Type (\S+)\.\n", out)
    assert len(hints) == 1
    hinted = play(capfd, monkeypatch, words, f"hint\n{hints[0]}\n")[1]
    plain = play(capfd, monkeypatch, words, f"{hints[0]}\n")[1]
    assert "illegal" not in plain
    hint = re.findall(r"Hint: [^\n]*\n(?:Your move: )?", hinted)[0]
    assert hinted.partition("Type ? for help")[2].replace(hint, "") == plain.partition("Type ? for help")[2]


def test_the_table_alone_brings_in_no_torch() -> None:
    code = (
        "import io, sys; from nainjaune_agents.cli.main import main; sys.stdin = io.StringIO(''); "
        "main(['play', '--pace=0', '--seed=5']); print(*({'torch', 'matplotlib', 'pygame'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("option", ["--seat 0", "--seed 0"])
def test_zero_is_an_argument_too(option: str, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    save_match(saved_path(), MATCH)
    refused(capfd, f"play --resume {option}", f"{option.split()[0]} cannot be combined with --resume")


def test_where_a_match_could_not_be_left_none_begins(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    refused(capfd, "play --seed 5", re.escape(str(tmp_path / "file")))
