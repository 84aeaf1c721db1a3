"""Text from outside is shown without what would act on a terminal."""

from __future__ import annotations

import pytest

from nainjaune_env.core.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tally", "tally"),
        ("Zoé 漢 7♦ « a »", "Zoé 漢 7♦ « a »"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\tc\x00\x7f\x9b", "a\\nb\\tc\\x00\\x7f\\x9b"),
        ("\u202eesrever\ufeff", "\\u202eesrever\\ufeff"),
        ("\udc80\uffff", "\\udc80\\uffff"),
        ("narrow\u202fspace\xa0", "narrow\u202fspace\xa0"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_what_cannot_be_printed_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown
