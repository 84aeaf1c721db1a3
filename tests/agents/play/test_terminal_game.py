"""A game played through a pseudo-terminal: the command as a person starts it, reads it and types at it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_env.records.record import read_records
from tests.support.wordings import french

PATIENCE = 120.0
"""Seconds until a text must have come: on a machine that has compiled nothing yet, much goes by before the first."""
MOVE, CONFIRM, NEXT, END = "Your move: ", "choose again: ", "q to leave: ", "Standings"
MENUS = ("Wanted: ", "You have the lead", "Rang demandé", "Vous avez la main")
POT_CARDS = ("Td", "Jc", "Qs", "Kh", "7d")
EXPLICIT = ["--preset=tableau", "--players=3", "--set=announce=explicit", "--set=unannounced=1", "--agents=random"]


class Player:
    """The command in a terminal of its own, 40 lines of 100 columns."""

    def __init__(self, *words: str) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        command = [sys.executable, "-W", "error", "-m", "nainjaune_agents.cli.main", "play", "--pace=0", *words]
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}, start_new_session=True
        )
        os.close(theirs)
        self._screen = ours
        self._read = b""
        self._seen = 0

    @property
    def shown(self) -> str:
        """All that came, without what a terminal would not show."""
        text = self._read.decode(errors="replace")
        return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", text).replace("\r", "")

    def until(self, *texts: str) -> str:
        """Wait for one of ``texts`` in what has come since the last time; gives the one."""
        end = time.monotonic() + PATIENCE
        while True:
            new = self.shown[self._seen :]
            found = [(new.index(text) + len(text), text) for text in texts if text in new]
            if found:
                at, text = min(found)
                self._seen += at
                return text
            if time.monotonic() > end or not self._more():
                raise AssertionError(f"waited for {texts}, and there came: {new[-3000:]}")

    def _more(self) -> bool:
        """Read what there is; False at the end."""
        if select.select([self._screen], [], [], 0.5)[0]:
            try:
                part = os.read(self._screen, 1 << 16)
            except OSError:  # as Linux says that the other side has closed
                return False
            self._read += part
            return bool(part)
        return self.process.poll() is None

    def menu(self) -> list[tuple[str, str]]:
        """The last menu: what to type, and what stands behind it."""
        screen = self.shown[: self._seen]
        menu = screen[max(map(screen.rfind, MENUS)) :]
        entry = r" {2,}(\S+) {2,}(\S.*?)"
        lines = [re.fullmatch(f"{entry}(?:{entry})?", line) for line in menu.splitlines()]
        return [pair for line in lines if line for pair in ((line[1], line[2]), (line[3], line[4])) if pair[0]]

    def type(self, text: str) -> None:
        """A line."""
        os.write(self._screen, text.encode() + b"\n")

    def key(self, code: bytes) -> None:
        """A key by itself."""
        os.write(self._screen, code)

    def end(self) -> int:
        """Wait for the exit; gives the status."""
        while self._more():
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """End it, where it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self._screen)


@contextlib.contextmanager
def player(*words: str) -> Iterator[Player]:
    playing = Player(*words)
    try:
        yield playing
    finally:
        playing.close()


def test_rounds_with_pots_announced_and_not(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A wrong input, help, a slip taken back at the last moment; "takes" said with one pot card, and not with the next."""
    file = tmp_path / "mine.jsonl"
    announced: list[str] = []
    silent: list[str] = []
    with player(*EXPLICIT, "--seed=7", "--rounds=3", f"--records={file}") as person:
        person.until(MOVE)
        person.type("hello")
        person.until("I do not understand 'hello'")
        person.until(MOVE)
        person.type("?")
        person.until("Be the first to have no cards left.")
        person.until(MOVE)
        person.type(person.menu()[0][0])
        person.until(CONFIRM)
        person.type("no")
        person.until("Not played.")
        asked = person.until(MOVE)
        while asked != END:
            if asked == NEXT:
                person.type("")
            else:
                pots = [text for text, meaning in person.menu() if "in its pot: " in meaning]
                if not pots:
                    person.type(person.menu()[0][0])
                elif len(announced) <= len(silent):
                    announced.append(pots[0])
                    person.type(f"{pots[0]} takes")
                else:
                    silent.append(pots[0])
                    person.type(pots[0])
                person.until(CONFIRM)
                person.type("")
            asked = person.until(MOVE, NEXT, END)
        assert person.end() == 0
        shown = person.shown
    assert announced
    assert silent
    records = list(read_records(file))
    assert [record["agents"] for record in records] == [["person", "random", "random"]] * 3
    moves = [move for record in records for seat, move in record["rounds"][0]["moves"] if seat == 0]
    played = [move.replace("T", "10") for move in moves if move[:2] in POT_CARDS]
    assert sorted(played) == sorted([*announced, *(f"{card}~" for card in silent)])
    assert "takes all!” (+" in shown
    assert "(unannounced, −" in shown
    assert main(["record", "verify", str(file)]) == 0
    assert capfd.readouterr().out == f"{file}: 3 matches, 3 rounds, all verified\n"


def test_a_move_is_taken_back_after_it_was_played() -> None:
    with player("--set=decline=always", "--seed=5", "--seat=3", "--no-confirm") as person:
        person.until(MOVE)
        before = person.menu()
        person.type("A")
        person.until("Wanted: 2.")
        person.until(MOVE)
        person.type("u")
        person.until("Your last move has been taken back.")
        person.until(MOVE)
        assert person.menu() == before
        person.type("u")
        person.until("Your last move cannot be taken back")
        person.until(MOVE)
        person.key(b"\x04")
        assert person.end() == 0


def test_ctrl_d_leaves_and_keeps_what_is_finished(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    words = [*EXPLICIT, "--rounds=9", "--seed=7", "--no-confirm", "--lang=fr", f"--records={file}"]
    with player(*words) as person:
        while person.until(french("À vous : "), french("q pour quitter : ")) == french("À vous : "):
            person.type(person.menu()[-1][0])
        person.type("")
        person.until(french("À vous : "))
        person.key(b"\x04")
        person.until("Vous avez quitté la table.", "Classement")
        assert person.end() == 0
    assert len(list(read_records(file))) == 1


@pytest.mark.slow
def test_what_is_typed_ahead_is_no_answer() -> None:
    with player("--set=decline=always", "--seed=5", "--seat=3", "--no-confirm", "--pace=0.3") as person:
        person.until(MOVE)
        person.key(b"A\nhello\n")
        person.until("Wanted: 2.")
        person.until(MOVE)
        person.type("q")
        person.until("Leave the table?")
        person.key(b"y\n")
        assert person.end() == 0
        assert "I do not understand" not in person.shown


@pytest.mark.slow
def test_a_terminal_that_is_closed_leaves_the_match(state_home: Path) -> None:
    with player("--set=decline=always", "--seed=5", "--seat=3", "--no-confirm") as person:
        person.until(MOVE)
        person.type("A")
        person.until("Wanted: 2.")
        person.until(MOVE)
        time.sleep(1.0)  # as with Ctrl-C
        os.killpg(person.process.pid, signal.SIGHUP)
        person.end()
    assert (state_home / "nainjaune-env" / "play.json").is_file()
    with player("--resume") as person:
        person.until("The match that you left goes on.")
        person.until("Wanted: 2.")
        person.until(MOVE)
        person.key(b"\x04")
        assert person.end() == 0


@pytest.mark.slow
def test_ctrl_c_leaves_with_a_sentence() -> None:
    with player("--seed=5") as person:
        person.until(MOVE)
        time.sleep(1.0)  # between its prompt and its wait for a key Python's readline would keep the signal until the next key
        os.killpg(person.process.pid, signal.SIGINT)
        person.until("You have left the table.")
        assert person.end() == 130
        assert "Traceback" not in person.shown


def test_b4_2_what_is_shown_once_goes_after_its_time() -> None:
    with player("--preset=batasaurus", "--agents=highest", "--seed=5", "--look=0.2") as person:
        person.until("Memorise this: you will not see it again. It is shown for 0.2 s,")
        person.until("The cards are face down now.")  # nobody has pressed Enter
        person.until(MOVE)
        person.type("q")
        person.until("Leave the table?")
        person.type("y")
        assert person.end() == 0
        glimpse, after = person._read.split(b"\x1b[?1049l")
        assert b"\x1b[?1049h" in glimpse
        assert b"T. rex" in glimpse
        assert b"T. rex" not in after
