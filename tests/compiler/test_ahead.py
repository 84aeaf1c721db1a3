"""Functions that are compiled ahead; ``make library`` tests the library of all loops."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.compiler import ahead
from nainjaune_env.compiler.ahead import INDEX, VARIABLE, AheadFunction, Library, open_library
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.compiler.platforms import PLATFORMS, platform_names
from nainjaune_env.compiler.signatures import signature_of
from nainjaune_env.core.errors import MissingLibraryError
from tests.support.source import ROOT

GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


@pytest.fixture(scope="module")
def printed() -> Any:
    command = [sys.executable, "-m", "tests.compiler.ahead_calls"]
    return json.loads(subprocess.run(command, env=os.environ | GENERIC, check=True, capture_output=True, text=True).stdout)


needs_compiler = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


@needs_compiler
def test_a_call_reads_every_type_of_argument_and_result(printed: Any) -> None:
    assert printed["called"] == [15 + 1000, 12.5, 2**64 - 2, True]
    assert printed["arrays"] == [[[-1] * 3] * 2, [4, 7, 10], [0, 12, 0], 2**64 - 2]


@needs_compiler
def test_a_bound_call_takes_other_objects(printed: Any) -> None:
    assert printed["bound"] == [1015, 12.5, 2**64 - 2, True]
    assert printed["changed"] == [-6 + 1000, [4, 7, 10], [4, 7, 10]]


@needs_compiler
def test_what_the_library_lacks_numba_compiles(printed: Any) -> None:
    assert printed["twice"] == [42, 8, -10, 5.0]
    assert printed["numba"] == [True, ["(float64,)"]]


def index_of(folder: Path, **changes: Any) -> Path:
    source = "nainjaune_env/compiler/signatures.py"
    about = {"version": ahead.VERSION, "platforms": ["no-machine"], "functions": {}}
    about["sources"] = {source: ahead.source_digest(ahead.source_file(source))}
    folder.mkdir()
    (folder / INDEX).write_text(json.dumps(about | changes), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"sources": {"nainjaune_env/compiler/signatures.py": "0"}}, "compiled from other sources (nainjaune_env/compiler/sig"),
        ({"sources": {"nainjaune_env/gone.py": "0"}}, "other sources (nainjaune_env/gone.py)"),
        ({"version": 0}, "(another version)"),
        ({}, f"is for no-machine, and this machine is {platform_names()[-1]}"),
    ],
)
def test_a_library_of_something_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], refusal: str
) -> None:
    monkeypatch.setenv(VARIABLE, str(index_of(tmp_path / "library", **changes)))
    library = open_library()
    assert library.is_empty
    assert refusal in library.refusal


def test_without_a_library_and_numba_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead.importlib.util, "find_spec", lambda name: None)
    function = AheadFunction(signature_of, Library({}, None, "this installation has none"), {})
    with pytest.raises(
        MissingLibraryError, match=r"^nainjaune-env without .* \(this installation has none\) .*'numba'.*\[numba\]"
    ):
        function(1)


@needs_compiler
def test_the_ten_lines_of_the_readme_say_it_where_they_make_the_environment() -> None:
    """Not from within its loops, when it is reset."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^## Ten lines of Python\n\n```python\n(.*?)```", readme, re.MULTILINE | re.DOTALL)
    code = f"import sys; sys.modules['numba'] = None\n{lines}"
    environment = {**os.environ, VARIABLE: ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    first, *_, sentence = done.stderr.strip().split("\n")[1:]
    assert code.split("\n")[int(first.split()[3].rstrip(",")) - 1].startswith("env = gymnasium.make(")
    assert re.search(
        r"MissingLibraryError: nainjaune-env without a library .* needs the package 'numba', .*: pip install", sentence
    )


def test_this_machine_has_a_name() -> None:
    assert platform_names()[-1] in PLATFORMS
