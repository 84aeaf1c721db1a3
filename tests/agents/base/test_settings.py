"""Settings: every refusal is a sentence that says where the value is, what was expected and what came."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct, field

from nainjaune_agents.base.settings import Choice, PositiveInt, Settings, Share, convert, described
from nainjaune_env.core.errors import ConfigError, RulesError, WorkError


class Net(Choice):
    @classmethod
    def names(cls) -> Sequence[str]:
        return ("mlp", "residual")

    @classmethod
    def struct(cls, name: str) -> type[Struct]:
        return {"mlp": MLP, "residual": Residual}[name]


class MLP(Settings, Net, tag_field="name", tag="mlp"):
    hidden: Annotated[list[PositiveInt], "widths"] = field(default_factory=lambda: [4, 5])
    gain: Annotated[Share, "of the heads"] = 0.5


class Residual(Settings, Net, tag_field="name", tag="residual"):
    width: Annotated[PositiveInt, "of all layers"] = 3
    gain: Annotated[Share, "of the heads"] = 0.5


class Toy(Settings):
    size: Annotated[Annotated[int, Meta(ge=1, le=9)], "a number"] = 3
    rate: Annotated[float, "a rate"] = 0.5
    on: bool = False
    preset: str | None = None
    schedule: Literal["linear", "cosine"] = "linear"
    shares: dict[str, float] | str | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    arch: Annotated[Net, "the network"] = MLP(hidden=[6])

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size == 7:
            raise RulesError("Seven is no size.")


def test_values_are_read_and_written() -> None:
    toy = convert(Toy, {"size": 4, "rate": 1, "rules": {"stake": 2}}, "toy")
    assert (toy.size, toy.rules, toy.arch) == (4, {"stake": 2}, MLP(hidden=[6]))
    assert type(toy.rate) is float
    assert list(toy.to_dict().items())[-1] == ("arch", {"name": "mlp", "hidden": [6], "gain": 0.5})
    assert list(toy.to_dict()["arch"]) == ["name", "hidden", "gain"]
    assert convert(Toy, toy.to_dict(), "toy") == toy == pickle.loads(pickle.dumps(toy))
    assert convert(Toy, {}, "toy").rules is not convert(Toy, {}, "toy").rules


@pytest.mark.parametrize(
    ("given", "arch"),
    [
        ({}, MLP(hidden=[6])),
        ({"gain": 0.1}, MLP(hidden=[6], gain=0.1)),
        ({"hidden": [8]}, MLP(hidden=[8])),
        ({"name": "residual"}, Residual()),
    ],
)
def test_what_a_choice_leaves_out_is_as_in_the_default(given: dict[str, Any], arch: Settings) -> None:
    assert convert(Toy, {"arch": given}, "toy").arch == arch


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sise": 3}, "Unknown key 'sise'. Did you mean 'size'? Valid: size, rate, on, preset, schedule, shares, rules, arch."),
        ({3: 1}, "expected texts as keys, not 3."),
        ([], "expected keys and values, not []."),
        ({"size": 0}, "expected 'size' to be a whole number from 1 to 9, not 0."),
        ({"size": 10}, "expected 'size' to be a whole number from 1 to 9, not 10."),
        ({"size": "3"}, "expected 'size' to be a whole number from 1 to 9, not '3'."),
        ({"size": 3.0}, "expected 'size' to be a whole number from 1 to 9, not 3.0."),
        ({"size": True}, "expected 'size' to be a whole number from 1 to 9, not True."),
        ({"size": None}, "expected 'size' to be a whole number from 1 to 9, not None."),
        ({"rate": math.nan}, "expected 'rate' to be a finite number, not nan."),
        ({"rate": -math.inf}, "expected 'rate' to be a finite number, not -inf."),
        ({"rate": 10**400}, "expected 'rate' to be a finite number, not a whole number of 1329 bits."),
        ({"rate": "1"}, "expected 'rate' to be a finite number, not '1'."),
        ({"rate": False}, "expected 'rate' to be a finite number, not False."),
        ({"on": 1}, "expected 'on' to be true or false, not 1."),
        ({"preset": 3}, "expected 'preset' to be a text or null, not 3."),
        ({"schedule": "lin"}, "Unknown schedule 'lin'. Did you mean 'linear'? Valid: linear, cosine."),
        ({"schedule": 1}, "expected 'schedule' to be 'linear' or 'cosine', not 1."),
        ({"shares": {"a": 1, "b": "half"}}, "expected 'shares.b' to be a finite number, not 'half'."),
        ({"shares": [1]}, "expected 'shares' to be keys and values or a text or null, not [1]."),
        ({"rules": {"stake": [1, math.inf]}}, "expected 'rules.stake[1]' to be a finite number, not inf."),
        ({"rules": {5: 1}}, "expected texts as keys of 'rules', not 5."),
        ({"arch": "mlp"}, "expected 'arch' to be {name: …, arguments}, not 'mlp'."),
        ({"arch": {"name": "mpl"}}, "Unknown arch 'mpl'. Did you mean 'mlp'? Valid: mlp, residual."),
        ({"arch": {"name": ["mlp"]}}, "Unknown arch ['mlp']. Did you mean 'mlp'? Valid: mlp, residual."),
        ({"arch": {"gian": 1}}, "Unknown key 'arch.gian'. Did you mean 'arch.gain'? Valid: arch.hidden, arch.gain, arch.name."),
        ({"arch": {"hidden": [8, 0]}}, "expected 'arch.hidden[1]' to be a whole number, at least 1, not 0."),
        ({"arch": {"hidden": 8}}, "expected 'arch.hidden' to be a list, not 8."),
        ({"arch": {"gain": math.nan}}, "expected 'arch.gain' to be a finite number, not nan."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_sentence(values: Any, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        convert(Toy, values, "toy.yaml")
    assert str(caught.value) == f"toy.yaml: {sentence}"


def test_an_instance_that_is_made_in_python_is_checked_too() -> None:
    with pytest.raises(ConfigError, match=re.escape("Toy: expected 'size' to be a whole number from 1 to 9, not 0.")):
        Toy(size=0)
    with pytest.raises(ConfigError, match=re.escape("Toy: expected 'rate' to be a finite number, not nan.")):
        Toy(rate=math.nan)


def test_errors_of_a_check_are_raised_as_they_are_and_others_of_the_callers_class() -> None:
    with pytest.raises(RulesError, match=r"^Seven is no size\.$"):
        convert(Toy, {"size": 7}, "toy")
    with pytest.raises(WorkError, match="toy: Unknown key"):
        convert(Toy, {"a": 7}, "toy", WorkError)


class Start(Struct, forbid_unknown_fields=True, tag_field="type", tag="start"):
    seats: PositiveInt


class Play(Struct, forbid_unknown_fields=True, tag_field="type", tag="play"):
    ply: int = 0


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"type": "plai"}, "Unknown type 'plai'. Did you mean 'play'? Valid: start, play."),
        ({"type": "start"}, "The key 'seats' is missing."),
        ({}, "The key 'type' is missing."),
        ({"type": "start", "seats": 0}, "expected 'seats' to be a whole number, at least 1, not 0."),
        ({"type": "play", "plai": 1}, "Unknown key 'plai'. Did you mean 'ply'? Valid: ply, type."),
    ],
)
def test_messages_are_told_apart_by_their_tags(values: Any, sentence: str) -> None:
    message: Any = Start | Play
    assert convert(message, {"type": "play", "ply": 3}, "message") == Play(3)
    with pytest.raises(ConfigError) as caught:
        convert(message, values, "message")
    assert str(caught.value) == f"message: {sentence}"


def test_every_key_is_described_with_its_default_and_its_meaning() -> None:
    rows = described(Toy)
    assert rows[0] == ("size", 3, "a number")
    assert rows[-4:] == [
        ("arch", {"name": "mlp", "hidden": [6], "gain": 0.5}, "the network"),
        ("arch.hidden", "[4, 5]", "mlp: widths"),
        ("arch.gain", "0.5", "mlp, residual: of the heads"),
        ("arch.width", "3", "residual: of all layers"),
    ]
