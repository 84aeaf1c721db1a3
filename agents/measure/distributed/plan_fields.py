"""The fields of plans, in JSON and back, and checked: a plan is also read from a file, and then its values may be anything."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from nainjaune_env.core.errors import ConfigError, NainJauneError, WorkError, as_sentence, quoted, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED

from ...base.options import has_type
from ...base.task import Task
from .units import WorkPlan, setup_from

P = TypeVar("P", bound=WorkPlan)

MAX_DEALS = 10**9
"""The largest number of deals or episodes: more than any machine plays in a year."""
MAX_ITEMS = 1000
"""The largest number of agents, or of other items of a field."""
BOUNDS = {
    "deals": (1, MAX_DEALS), "episodes": (1, MAX_DEALS), "seed": (0, MAX_SEED), "chunk": (1, MAX_DEALS), "first": (0, 1 << 62),
    "share": (0, 1),
}  # fmt: skip
"""The smallest and the largest value of a field that is a number, by its name."""
CHOICES = {"device": ("cpu", "cuda")}
"""The values of a field that is a text, by its name."""
_NAMES = {int: "a whole number", str: "a text", bool: "True or False", float: "a number", NoneType: "None"}


@dataclass(frozen=True)
class JsonPlan:
    """A plan with fields that are JSON values, setups, tasks, or tuples of them."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as JSON values."""
        return {name: _written(value) for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Returns the plan that :meth:`to_dict` wrote."""
        hints = get_type_hints(cls)
        return cls(**{name: _read(value, hints.get(name)) for name, value in values.items()})


@dataclass(frozen=True)
class DealPlan(JsonPlan):
    """The fields that every plan of duplicate play begins with."""

    setup: Setup
    agents: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    return value.to_dict() if isinstance(value, Setup | Task) else value


def _read(value: Any, hint: Any) -> Any:
    """Returns the value of a field of the type ``hint`` that :func:`_written` wrote."""
    if hint is Setup:
        return setup_from(value)
    if hint is Task:
        return Task(**value)
    of = next((get_args(one) for one in (hint, *get_args(hint)) if get_origin(one) is tuple), None)
    if of is None or not isinstance(value, list):
        return value
    return tuple(_read(item, of[0] if of[-1] is Ellipsis else of[min(at, len(of) - 1)]) for at, item in enumerate(value))


def check_fields(plan: Any) -> None:
    """Raises :class:`ConfigError` for a field of the dataclass ``plan`` of another type than declared, or beyond its bounds."""
    for name, hint in get_type_hints(type(plan)).items():
        if get_origin(hint) is ClassVar:
            continue
        value, what = getattr(plan, name), f"{name!r} of a {plan.KIND}"
        if not has_type(value, hint):
            raise ConfigError(f"{what} is {_text(hint)}, not {quoted(value)}.")
        if isinstance(value, tuple) and len(value) > MAX_ITEMS:
            raise ConfigError(f"{what} has at most {MAX_ITEMS} items, not {len(value)}.")
        if value not in CHOICES.get(name, (value,)):
            raise ConfigError(unknown_name_message(name, value, CHOICES[name]))
        low, high = BOUNDS.get(name, (None, None))
        if value is not None and low is not None and high is not None and not low <= value <= high:
            raise ConfigError(f"{what} is from {low} to {high}, not {quoted(value)}.")


def _text(hint: Any) -> str:
    """Returns the type ``hint`` in words."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_text, of))
    if origin is Literal:
        return " or ".join(map(repr, of))
    if origin is tuple:
        items = f"with {_text(of[0])} each" if of[-1] is Ellipsis else f"of {' and '.join(map(_text, of))}"
        return f"a list {items}"
    return _NAMES.get(hint, f"a {getattr(hint, '__name__', hint)}")


def read_plan(kind: type[P], content: Any, where: str) -> P:
    """Returns the plan that ``to_dict`` of the class ``kind`` wrote; raises :class:`WorkError` for anything else.

    ``where`` names in its sentence what holds the ``content``.
    """
    try:
        return kind.from_dict(content)
    except KeyError as error:
        raise WorkError(f"{where} has a damaged description of its run: the key {error} is missing.") from None
    except (TypeError, AttributeError):  # Python's own words name what this code calls, not what the file holds
        raise WorkError(f"{where} has a damaged description of its run: a {kind.KIND} has other keys and values.") from None
    except (ValueError, NainJauneError) as error:
        raise WorkError(f"{where} has a damaged description of its run: {as_sentence(error)}") from None
