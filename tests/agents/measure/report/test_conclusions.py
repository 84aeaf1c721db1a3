"""What is said of a result, from edges made up for it."""

from __future__ import annotations

import pytest

from nainjaune_agents.measure.cross_table import CrossTable
from nainjaune_agents.measure.report.conclusions import headline, sentences, strongest
from tests.agents.measure.tables import table_of


def of(**means: float) -> CrossTable:
    """From ``ab=0.5``: a in a field of b, with an interval of 0.06 on either side."""
    return table_of({(pair[0], pair[1]): mean for pair, mean in means.items()}, deals=1500)


@pytest.mark.parametrize(
    ("ab", "ba", "head", "says"),
    [
        (0.5, -0.5, "a is stronger than b", "a is stronger than b by 0.500 ± 0.042 chips a round: a makes +0.500 ± 0.060 chips a "
         "round in a field of b, b −0.500 ± 0.060 in a field of a."),
        (-0.5, 0.5, "b is stronger than a", "b is stronger than a by 0.500 ± 0.042 chips a round: b makes +0.500"),
        # half of the difference of the edges decides, also where one of them alone says nothing, or both gain
        (0.5, 0.01, "a is stronger than b", "a is stronger than b by 0.245 ± 0.042 chips a round: a makes +0.500"),
        (0.1, 0.5, "b is stronger than a", "b is stronger than a by 0.200 ± 0.042 chips a round: b makes +0.500"),
        (0.05, -0.03, "Neither a nor b is stronger", "1,500 deals show no significant difference between a and b: a makes"),
        (0.01, -0.01, "Neither a nor b is stronger", "1,500 deals show no significant difference between a and b"),
        (0.5, 0.5, "Neither a nor b is stronger", "a and b each gain in a field of the other"),
        (-0.5, -0.5, "Neither a nor b is stronger", "a and b each lose in a field of the other"),
    ],
)  # fmt: skip
def test_two(ab: float, ba: float, head: str, says: str) -> None:
    result = of(ab=ab, ba=ba)
    assert headline(result) == head
    (said,) = sentences(result)
    assert said.startswith(says)


def test_the_strongest_of_three_and_its_nearest_rival_first() -> None:
    result = of(ab=0.9, ba=-0.9, ac=0.3, ca=-0.2, bc=0.0, cb=0.0)
    assert strongest(result) == "a"
    assert headline(result) == "a is the strongest of 3"
    assert [said.split(":")[0] for said in sentences(result)] == [
        "a is stronger than c by 0.250 ± 0.042 chips a round", "a is stronger than b by 0.900 ± 0.042 chips a round",
        "1,500 deals show no significant difference between b and c",
    ]  # fmt: skip


def test_nobody_need_be_the_strongest() -> None:
    ring = of(ab=1.0, ba=-1.0, bc=1.0, cb=-1.0, ca=1.0, ac=-1.0)
    assert strongest(ring) is None
    assert headline(ring) == "None of 3 is stronger than all others"
    assert len(sentences(ring)) == 3
