"""What is said while functions are compiled."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import event

from nainjaune_env.compiler import compile_notice
from nainjaune_env.compiler.jit import JIT_ENABLED, jit

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _cold(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, a notice that has said nothing, and no patience."""
    monkeypatch.delenv("NAINJAUNE_QUIET")
    monkeypatch.setattr(compile_notice, "PATIENCE", 0.0)
    usual, notice = compile_notice._NOTICE, compile_notice._Notice()
    monkeypatch.setattr(compile_notice, "_NOTICE", notice)
    event.unregister("numba:compile", usual)
    with event.install_listener("numba:compile", notice):
        yield
    event.register("numba:compile", usual)


one = jit(lambda x: x + 1)
two = jit(lambda x: one(x) * 2)


def fresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function without code that calls another one without code."""
    inner = jit(one.py_func)
    monkeypatch.setitem(globals(), "one", inner)
    return jit(two.py_func)


SENTENCE = "nainjaune-env: compiling for the first use; later starts load the code from {}.\n"


def test_compiling_is_said_once_in_a_line_and_loading_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fresh(monkeypatch)(20) == 42
    assert fresh(monkeypatch)(2.5) == 7.0
    assert capsys.readouterr() == ("", SENTENCE.format(tmp_path / "cache"))
    compile_notice._NOTICE._said = False
    assert fresh(monkeypatch)(20) == 42
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar_of_the_functions_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert fresh(monkeypatch)(20) == 42
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "Compiling:   0%|" in shown
    assert "| 1/2 " in shown
    assert shown.split("\r")[-1].strip() == ""


def test_what_takes_less_than_a_second_is_not_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile_notice, "PATIENCE", 1e6)
    assert fresh(monkeypatch)(20) == 42
    assert capsys.readouterr() == ("", "")


def test_short_compilations_add_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fresh(monkeypatch)(20)
    spent = compile_notice._NOTICE._spent
    assert spent > 0
    compile_notice._NOTICE._said = False
    monkeypatch.setattr(compile_notice, "PATIENCE", spent + 1e-9)
    capsys.readouterr()
    fresh(monkeypatch)(2.5)
    assert "compiling" in capsys.readouterr().err


def test_a_variable_silences_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NAINJAUNE_QUIET", "1")
    fresh(monkeypatch)(20)
    assert capsys.readouterr() == ("", "")


def test_functions_of_others_are_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    assert numba.njit(lambda x: x + 3)(4) == 7
    assert capsys.readouterr() == ("", "")


def test_code_that_cannot_be_kept_is_said_to_be_compiled_at_every_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "file" / "below"))
    assert fresh(monkeypatch)(20) == 42
    assert (
        capsys.readouterr().err == "nainjaune-env: compiling; the code cannot be kept on disk, so every start compiles again.\n"
    )


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_a_stream_the_compiler_goes_on(monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert fresh(monkeypatch)(20) == 42


def test_after_an_error_the_next_function_is_an_outermost_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(numba.errors.TypingError):
        fresh(monkeypatch)("text")
    assert compile_notice._NOTICE._depth == 0
    assert compile_notice._NOTICE._bar is None
