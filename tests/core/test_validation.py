"""The helpers that hold records against what was expected."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from nainjaune_env.core.errors import ConfigError, DealError, RecordError, RulesError
from nainjaune_env.core.validation import (
    as_array,
    check_equal,
    check_flag,
    check_keys,
    check_list,
    check_viewer,
    check_whole,
    finite,
    identical,
    read_json,
    whole,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(True, 1), (1.0, 1), ([0], [False]), ([1], (1,)), ([[1]], [[1.0]]), ("1", 1), ([1], [1, 1])],
)
def test_what_python_or_a_reader_might_take_for_equal_is_not_identical(given: object, expected: object) -> None:
    assert not identical(given, expected)


def test_equal_values_of_equal_types_are_identical() -> None:
    assert identical([1, ["a", True], None], [1, ["a", True], None])


def test_each_refusal_says_where_what_was_expected_and_what_came() -> None:
    with pytest.raises(RecordError, match=r"^Here: expected 'x' to be 1, and it is True\.$"):
        check_equal("Here", "x", True, 1)
    with pytest.raises(RecordError, match=r"^Here: expected 'x' to be a list of 2 whole numbers, not \[1, True\]\.$"):
        check_list("Here", "x", [1, True], int, 2)
    with pytest.raises(RecordError, match=r"^Here: expected 'x' to be a list of texts, not 'ab'\.$"):
        check_list("Here", "x", "ab", str)
    with pytest.raises(RecordError, match=r"^Here: expected an object with the keys a, b, not \[\]\.$"):
        check_keys("Here", [], ("a", "b"))
    with pytest.raises(RecordError, match=r"^Here: the key 'b' is missing; there are a\.$"):
        check_keys("Here", {"a": 1}, ("a", "b"))
    with pytest.raises(RecordError, match=r"^Here: Unknown key 'aa'\. Did you mean 'a'\? Valid: a, b\.$"):
        check_keys("Here", {"aa": 1}, ("a",), ("b",))


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_a_whole_number_is_one_of_numpys_too(given: object) -> None:
    result = whole(given)
    assert (type(result), result) == (int, 3)


@pytest.mark.parametrize("given", [3.0, np.float64(3), True, np.bool_(True), "3", None, [3], np.array([3, 4])])
def test_what_is_no_whole_number(given: object) -> None:
    assert whole(given) is None


@pytest.mark.parametrize("given", [3, 3.0, np.float32(3), np.int64(3)])
def test_a_finite_number_is_one_of_numpys_too(given: object) -> None:
    result = finite(given)
    assert (type(result), result) == (float, 3.0)


@pytest.mark.parametrize("given", [math.nan, math.inf, np.float64("-inf"), 10**400, True, np.bool_(True), "3", None, [3], 3j])
def test_what_is_no_finite_number(given: object) -> None:
    assert finite(given) is None


@pytest.mark.parametrize("given", [True, np.bool_(True)])
def test_a_flag_is_one_of_numpys_too(given: object) -> None:
    assert check_flag("x", given) is True


@pytest.mark.parametrize("given", [0, 1, 2, 1.0, "no", None, [True]])
def test_what_python_takes_for_true_or_false_is_no_flag(given: object) -> None:
    with pytest.raises(RulesError, match=rf"^'x' is True or False, not {re.escape(repr(given))}\.$"):
        check_flag("'x'", given)


def test_who_sees_a_table_is_a_seat_or_a_spectator() -> None:
    assert [check_viewer("The viewer", given, 3) for given in (None, 0, np.int64(2))] == [None, 0, 2]
    for given in (3, -1, 1.0, True, "1", [1]):
        with pytest.raises(DealError, match=rf"^The viewer is a seat from 0 to 2, or None .*, not {re.escape(repr(given))}\.$"):
            check_viewer("The viewer", given, 3)


def test_a_number_of_a_deal_is_whole_and_in_range() -> None:
    assert check_whole("The seed", 7, 0, 7) == 7
    with pytest.raises(DealError, match=r"The seed is a whole number, not 1\.5\."):
        check_whole("The seed", 1.5)
    for number in (-1, 8):
        with pytest.raises(DealError, match=rf"The seed is from 0 to 7, not {number}\."):
            check_whole("The seed", number, 0, 7)


def test_lists_of_unequal_lengths_are_no_array() -> None:
    assert as_array("Expected rows, not", [[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(RecordError, match=r"^Expected rows, not \[\[1, 2\], \[3\]\]\.$"):
        as_array("Expected rows, not", [[1, 2], [3]], RecordError)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"^There is no card at '.*c\.json'\.$"),
        (b"{", r"'.*c\.json' is not a card: Expecting property name.*[^.]\.$"),
        (b"[" * 100_000, r"is not a card: maximum recursion depth exceeded.*[^.]\.$"),
        (b"\xff", r"is not a card: 'utf-8' codec can't decode.*[^.]\.$"),
    ],
    ids=["none", "cut", "nested", "bytes"],
)
def test_a_file_that_is_no_json_is_refused(content: bytes | None, says: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        read_json(tmp_path / "c.json", "card", ConfigError)


def test_a_folder_is_no_json(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not a card: it is no file\.$"):
        read_json(tmp_path, "card", ConfigError)
