"""What errors quote of values from outside."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env.core.errors import MAX_QUOTED, as_sentence, quoted, unknown_name_message


@pytest.mark.parametrize(
    "value",
    [3, -1.5, "a", None, True, b"x", [1, "b", [2, [3]]], {"b": 1, "a": [2]}, (), np.int64(3), [*range(50)], "x" * 190, 10**150],
)
def test_a_short_value_is_quoted_whole(value: object) -> None:
    assert quoted(value) == repr(value)


ENDLESS: list[object] = []
ENDLESS += [ENDLESS, ENDLESS]
NESTED: list[object] = []
for _ in range(100_000):
    NESTED = [NESTED]
BOMB: list[object] = ["lol"]
for _ in range(40):
    BOMB = [BOMB, BOMB]


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6, [0] * 10**6, {k: k for k in range(10**5)}, {*range(10**5)}, 10**5000, ENDLESS, NESTED, BOMB, {"k": BOMB},
        np.arange(10**5),
    ],
    ids=["text", "list", "dict", "set", "number", "endless", "nested", "bomb", "bomb in a dict", "array"],
)  # fmt: skip
def test_of_a_large_value_little_is_quoted(value: object) -> None:
    assert 0 < len(quoted(value)) <= MAX_QUOTED


def test_an_unknown_name_is_quoted_in_part_too() -> None:
    assert unknown_name_message("agent", "talyl", ["tally"]) == "Unknown agent 'talyl'. Did you mean 'tally'? Valid: tally."
    assert len(unknown_name_message("agent", "tally" * 10**5, ["tally"])) < MAX_QUOTED + 50
    assert len(unknown_name_message("agent", BOMB, ["tally"])) < MAX_QUOTED + 50


@pytest.mark.parametrize("message", ["size mismatch", "size mismatch.", "size mismatch.\n"])
def test_the_message_of_another_library_ends_with_one_full_stop(message: str) -> None:
    assert as_sentence(RuntimeError(message)) == "size mismatch."
