"""The helpers that hold records against what was expected."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError, RecordError
from nainjaune_env.core.validation import check_equal, check_keys, check_list, check_whole, identical, whole


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
    found = whole(given)
    assert (type(found), found) == (int, 3)


@pytest.mark.parametrize("given", [3.0, np.float64(3), True, np.bool_(True), "3", None, [3], np.array([3, 4])])
def test_what_is_no_whole_number(given: object) -> None:
    assert whole(given) is None


def test_a_number_of_a_deal_is_whole_and_in_range() -> None:
    assert check_whole("The seed", 7, 0, 7) == 7
    with pytest.raises(DealError, match=r"The seed is a whole number, not 1\.5\."):
        check_whole("The seed", 1.5)
    for number in (-1, 8):
        with pytest.raises(DealError, match=rf"The seed is from 0 to 7, not {number}\."):
            check_whole("The seed", number, 0, 7)
