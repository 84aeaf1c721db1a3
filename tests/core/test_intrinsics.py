"""Instructions of the processor in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.bits import write_word
from nainjaune_env.core.jit import JIT_ENABLED, jit

WORD = np.int64(-0x7EDCBA9876543211)

compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="plain Python has no instructions of its own")


@jit
def write(out: Any, at: Any, word: Any) -> None:
    write_word(out, at, word)


@pytest.mark.parametrize("at", range(9))
@pytest.mark.parametrize("kind", [np.uint8, np.bool_])
def test_a_word_is_written_as_bytes_at_any_address(at: int, kind: type) -> None:
    word = WORD if kind is np.uint8 else np.int64(0x0100_0001_0101_0001)
    out = np.zeros(17, kind)
    write(out, at, word)
    assert out.tobytes() == bytes(at) + int(word).to_bytes(8, "little", signed=True) + bytes(9 - at)


@compiled_only
def test_a_word_is_one_store() -> None:
    """The compiler makes eight of the loop in ``write_word``, which took as long as half an observation."""
    write(np.zeros(8, np.uint8), 0, WORD)
    function: Any = write
    code = "".join(function.inspect_llvm().values())
    assert "store i64" in code
    assert "store i8" not in code
