"""Output that another encoding, a full disk or a closed stream cannot take: nothing is lost, and the status says it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.main import COMMANDS
from nainjaune_agents.cli.streams import PLAIN, close_output, fitted, open_streams, print_error, print_json
from tests.agents.cli.command import status_of
from tests.agents.tables.terminal.typist import Screen


class Full(io.RawIOBase):
    """A device without room."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")

    def fileno(self) -> int:
        return self.null

    def __init__(self) -> None:
        self.null = os.open(os.devnull, os.O_WRONLY)


@contextlib.contextmanager
def full(*, buffered: bool = True) -> Iterator[io.TextIOWrapper]:
    """A text stream on it; its buffer, if it has one, is dropped at the end."""
    raw = Full()
    buffer: Any = io.BufferedWriter(raw) if buffered else raw
    stream = io.TextIOWrapper(buffer, encoding="utf-8", write_through=not buffered)
    yield stream
    raw.write = lambda data: len(data)  # type: ignore[method-assign, arg-type, assignment]
    stream.close()
    os.close(raw.null)


def test_what_an_encoding_lacks_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    open_streams()
    print("−0.316 ± 0.076 … 7♦ é 漢 “ace” ─")
    close_output()
    assert raw.getvalue() == b'-0.316 +- 0.076 ? 7d ? ? "ace" -\n'
    assert isinstance(sys.stdout, io.TextIOWrapper)
    assert sys.stdout.errors == PLAIN


@pytest.mark.parametrize("words", [[], *([command.NAME] for command in COMMANDS)], ids=" ".join)
def test_help_is_printed_in_the_encoding_of_a_pipe_on_windows(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", errors="strict"))
    assert status_of([*words, "--help"]) == 0
    assert f"nainjaune {' '.join(words)}".strip() in raw.getvalue().decode("cp1252")


def test_files_are_written_before_anything_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with full() as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        stdout.reconfigure(write_through=True)  # the first line fails
        assert status_of(["evaluate", "--agents", "lowest", "random", "--deals", "30", "--out", str(tmp_path / "r")]) == 2
    assert capfd.readouterr().err == "nainjaune evaluate: No space left on device.\n"
    assert list((tmp_path / "r").glob("*.json"))


@pytest.mark.parametrize(("words", "buffered"), [("agents", True), ("--help", True), ("--help", False)])
def test_a_full_stream_is_an_error(
    words: str, buffered: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with full(buffered=buffered) as stdout:  # without a buffer as under PYTHONUNBUFFERED
        monkeypatch.setattr(sys, "stdout", stdout)
        assert status_of([words]) == 2
    program = "nainjaune agents" if words == "agents" else "nainjaune"
    assert capfd.readouterr().err == f"{program}: No space left on device.\n"


@pytest.mark.parametrize("words", ["evaluate --agents nobody lowest", "fly"])
def test_an_error_where_stderr_is_full_is_a_status(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with full() as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert status_of(words.split()) == 2


def test_a_closed_stream_is_an_error_only_where_something_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert status_of(["agents"]) == 2
    assert capfd.readouterr() == ("", "nainjaune agents: What was printed is lost, because the output is closed.\n")
    open_streams()
    close_output()
    os.close(sys.stdout.fileno())


def test_errors_without_stderr_do_not_go_to_stdout(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert status_of(["evaluate", "--agents", "nobody", "lowest"]) == 2
    assert capfd.readouterr() == ("", "")
    os.close(sys.stderr.fileno())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "a\x1b[2J"), "p: No such file or directory: 'a\\x1b[2J'.\n"),
        (OSError("odd"), "p: odd.\n"),
        (OSError(22, "Invalid argument"), "p: Invalid argument.\n"),
        (ValueError("the first line\nthe second"), "p: the first line the second.\n"),
        ("Did you mean 'a'?", "p: Did you mean 'a'?\n"),
        ("name\x9b31m\u202e", "p: name\\x9b31m\\u202e.\n"),
    ],
)
def test_errors_have_one_form(error: BaseException | str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    print_error("p", error)
    assert capfd.readouterr().err == said


def test_json_is_escaped_and_stays_the_same_value(capfd: pytest.CaptureFixture[str]) -> None:
    value = {"a": ["7♦", "\x1b[2J", "\x9b", "\u202e", "\U000e0001"], "n": 1.5}
    print_json(value)
    out = capfd.readouterr().out
    assert json.loads(out) == value
    assert "7♦" in out
    assert out.replace("\n", "").isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "status"), [(">/dev/full", 2), ("2>/dev/full", 0), (">&- 2>&-", 2), ("| head -0; exit ${PIPESTATUS[0]}", 141)]
)
def test_of_a_process(redirected: str, status: int) -> None:
    """Python flushes once more at exit, and would say so or change the status."""
    command = f"{sys.executable} -W error -m nainjaune_agents.cli.main agents --game nain_jaune {redirected}"
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


def test_sentences_fit_the_terminal_and_tables_and_commands_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    row, command = f"hero  {'1.5  ' * 10}".rstrip(), "pip install -e '/a/long/name of a folder[train]'"
    text = f"{row}\nA sentence of several words that is longer.\nThis needs a package: {command}."
    assert fitted(text, io.StringIO()) == text
    assert fitted(text, Screen()) == (f"{row}\nA sentence of several words that is\nlonger.\nThis needs a package:\n{command}.")


def test_an_error_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    assert status_of(["evaluate", "--agents", "nobody", "lowest", "--deals", "5"]) == 2
    first, *more = screen.getvalue().splitlines()
    assert first.startswith("nainjaune evaluate: Unknown agent 'nobody'.")
    assert more
    assert max(map(len, [first, *more])) <= 50
