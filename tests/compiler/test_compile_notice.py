"""What is said where functions are compiled."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from nainjaune_env.compiler import compile_notice
from nainjaune_env.compiler.jit import JIT_ENABLED, jit

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


@pytest.fixture(autouse=True)
def _cold(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and nothing said so far."""
    monkeypatch.delenv("NAINJAUNE_QUIET")
    monkeypatch.setattr(compile_notice, "_said", False)


one = jit(lambda x: x + 1)
two = jit(lambda x: one(x) * 2)


def fresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function without code that calls another one without code."""
    inner = jit(one.py_func)
    monkeypatch.setitem(globals(), "one", inner)
    return jit(two.py_func)


def test_compiling_is_said_once_in_a_line_and_loading_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fresh(monkeypatch)(20) == 42
    assert fresh(monkeypatch)(2.5) == 7.0
    said = f"nainjaune-env: compiling for the first use; later starts load the code from {tmp_path / 'cache'}.\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.setattr(compile_notice, "_said", False)
    assert fresh(monkeypatch)(20) == 42
    assert capsys.readouterr() == ("", "")


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
    assert capsys.readouterr().err == "nainjaune-env: compiling at every start, as the code cannot be kept on disk.\n"


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_a_stream_the_compiler_goes_on(monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert fresh(monkeypatch)(20) == 42
