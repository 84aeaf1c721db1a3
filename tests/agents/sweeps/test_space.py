"""Ranges and lists of a search for hyperparameters, and what is said of those that are none."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_agents.sweeps.space import Choice, Range, as_settings, choices, configured, ends, is_range, read_space
from nainjaune_env.core.errors import ConfigError, NainJauneError

TINY: dict[str, Any] = {"tables": 16, "arch": {"hidden": [8]}, "minibatch": 64, "eval_deals": 20}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("a=1", ["a=1"]),
        ("a=1,2e-3", ["a=1", "a=2e-3"]),
        ("arch.hidden=[8,8],[16]", ["arch.hidden=[8,8]", "arch.hidden=[16]"]),
        ("start={pots: [0, 40]},fresh", ["start={pots: [0, 40]}", "start=fresh"]),
        ("opponents='a,b',c", ["opponents='a,b'", "opponents=c"]),
    ],
)
def test_values_of_a_setting(setting: str, expected: list[str]) -> None:
    assert choices(setting) == expected


def test_a_space_has_ranges_of_the_types_of_keys_and_lists() -> None:
    settings = [
        "optimizer.learning_rate=1e-4..1e-2,log",
        "epochs=1..4",
        "clip=0..1",
        "arch.hidden=[8],[8,8]",
        "entropy=1e-2",
        "minibatch=8..64,log",
    ]
    fixed, space = read_space(TINY, settings)
    assert fixed == {**TINY, "entropy": "1e-2"}
    assert space == {
        "optimizer.learning_rate": Range(1e-4, 1e-2, True), "epochs": Range(1, 4, False), "clip": Range(0.0, 1.0, False),
        "arch.hidden": Choice(("[8]", "[8,8]")), "minibatch": Range(8, 64, True),
    }  # fmt: skip
    assert isinstance(space["epochs"].low, int)  # type: ignore[union-attr]
    assert isinstance(space["clip"].low, float)  # type: ignore[union-attr]
    assert [str(one) for one in space.values()] == ["0.0001..0.01,log", "1..4", "0.0..1.0", "[8],[8,8]", "8..64,log"]


def test_values_of_a_space_are_settings_of_a_run() -> None:
    _, space = read_space(TINY, ["optimizer.learning_rate=1e-6..1e-2,log", "arch.hidden=[8],[8,8]"])
    values = {key: ends(one)[0] for key, one in space.items()}
    assert as_settings(values) == ["optimizer.learning_rate=1e-06", "arch.hidden=[8]"]
    config = configured(TINY, as_settings(values), 7)
    assert (config.optimizer["learning_rate"], config.arch["hidden"], config.seed) == (1e-6, [8], 7)


def test_floats_have_four_digits_and_stay_in_their_range() -> None:
    assert Range(1e-4, 1e-2, True).rounded(0.00123456789) == 0.001235
    assert Range(1e-6, 1.0, True).rounded(1.23456e-6) == 1.235e-6
    assert Range(0.0, 1.0, False).rounded(0.00123456) == 0.0012
    assert Range(0.99, 1.0, False).rounded(0.9912345678) == 0.991235
    assert Range(0.123434, 0.2, True).rounded(0.1234341) == 0.123434  # not 0.1234, which is below
    assert Range(1, 9, False).rounded(3) == 3
    assert Range(1, 9, False).holds(9)
    assert not Range(1, 9, False).holds(9.0)
    assert not Range(1, 9, False).holds(10)
    assert not Range(1, 9, False).holds(True)
    assert Choice(("a", "b")).holds("b")
    assert not Choice(("a", "b")).holds("c")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("a=1..2", True), ("a=1e-4..1e-2,log", True), ("a=-.5..0.5", True), ("a=1..2,lg", True),
        ("a=../runs/1", False), ("a=2024/../runs/1", False), ("a=..", False), ("a=1,2", False), ("a=x..y", False),
    ],
)  # fmt: skip
def test_what_looks_like_a_range(setting: str, expected: bool) -> None:
    assert is_range(setting) is expected


def test_a_path_with_dots_is_a_value() -> None:
    fixed, _ = read_space(TINY, ["epochs=1..2", "init=../runs/1"])
    assert fixed["init"] == "../runs/1"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ([], r"needs keys to vary: --set KEY=LOW\.\.HIGH,"),
        (["epochs=3"], "needs keys to vary"),
        (
            ["optimizer.learning_rate=1e-2..1e-4"],
            "'1e-2..1e-4' of 'optimizer.learning_rate' should go from a lower number to a higher one",
        ),
        (["epochs=2..2"], "should go from a lower number"),
        (["optimizer.learning_rate=a..b"], "A range of 'optimizer.learning_rate' is LOW..HIGH, .* each end a number; not 'a..b'"),
        (["optimizer.learning_rate=nan..1"], "is LOW..HIGH"),
        (["optimizer.learning_rate=1e-4..1e-2,lg"], "or LOW..HIGH,log .* not '1e-4..1e-2,lg'"),
        (["epochs=1..3,7"], "not '1..3,7'"),
        (["epochs=1.5..3"], "each end a whole number; not '1.5..3'"),
        (["entropy=0..1,log"], "lies above 0, and the lower end of 'entropy' is 0.0"),
        (["entropy=0..inf"], "'0..inf' of 'entropy' is too wide"),
        (["iterations=1..10000000000"], "too wide: at most 1,000,000,000"),
        (["privileged=0..1"], "the key 'privileged' takes bool: list its values"),
        (["arch.hidden=8..64"], r"the key 'arch.hidden' takes list\[int\]: list its values"),
        (["optimizer.learning_rat=1e-4..1e-2"], "Did you mean 'optimizer.learning_rate'"),
        (["optimizer.learning_rate=1e-3..2"], "'optimizer.learning_rate' is at most 1, and it is 2.0"),
        (["epochs=1..2", "clip=-1,0.2"], "'clip' is at least 0, and it is -1.0"),
        (["epochs=1..2", "epochs=3"], "--set epochs=… is given twice"),
        (["eval_against=random,lowest"], "'eval_against' changes what an edge is: give it one value"),
        (["eval_deals=20..40"], "'eval_deals' changes what an edge is"),
        (["rules.decline=never,always"], "'rules.decline' changes what an edge is"),
        (["seed=0..5"], "by --seeds and --first-seed"),
        (["arch.hidden=[8],[8]"], r"--set arch.hidden=\[8\],\[8\] has a value twice"),
        (["epochs=1..2", "eval_every=0"], "are not evaluated"),
        (["epochs"], "A setting is key=value"),
        (["algorithm=ppo,pp"], "Did you mean 'ppo'"),
    ],
)
def test_what_is_no_space(settings: list[str], sentence: str) -> None:
    with pytest.raises(NainJauneError, match=sentence) as caught:
        read_space(TINY, settings)
    assert isinstance(caught.value, ConfigError)
