"""Where the package cannot run, a sentence says so before anything else is imported."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("version_info = (3, 10, 13)", r"this is Python 3\.10\.13 of 64 bits on a little-endian"),
        ("maxsize = 2**31 - 1", r"of 32 bits on a little-endian"),
        ("byteorder = 'big'", r"of 64 bits on a big-endian"),
    ],
)
def test_the_sentence(change: str, says: str) -> None:
    code = (
        f"import sys\nsys.{change}\ntry:\n    import nainjaune_env\nexcept ImportError as error:\n    print(error, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8")
    sentence, _, modules = done.stdout.partition(". ")
    assert sentence.startswith("nainjaune-env runs on Python 3.11 or newer, of 64 bits, on little-endian machines such as x86-64")
    assert re.search(says, sentence)
    assert not {"numpy", "numba", "gymnasium"} & {*modules.split()}
