"""Plans as settings and as JSON: types and bounds stand beside the fields, as a file with a plan may say anything."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import Meta, structs

from nainjaune_env.core.errors import WorkError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_seed

from ...base.settings import Settings
from .units import WorkPlan, convert_with_setup

P = TypeVar("P", bound=WorkPlan)

Deals = Annotated[int, Meta(ge=1, le=10**9)]
"""A number of deals or episodes: at most what no machine plays in a year."""
Place = Annotated[int, Meta(ge=0, le=1 << 62)]
"""The number of a deal or an episode."""
Names = Annotated[tuple[str, ...], Meta(max_length=1000)]
"""Names of agents."""
Device = Literal["cpu", "cuda"]


class JsonPlan(Settings, frozen=True):
    """A plan with a setup and with fields that msgspec knows. Raises ``NainJauneError`` for a value that is not allowed."""

    KIND: ClassVar[str]

    setup: Setup

    def __post_init__(self) -> None:
        super().__post_init__()
        check_seed(getattr(self, "seed", 0))  # 64 bits: bounds of msgspec have a sign

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as JSON values, which :func:`read_plan` reads."""
        values: dict[str, Any] = msgspec.to_builtins({**structs.asdict(self), "setup": self.setup.to_dict()})
        return values


class DealPlan(JsonPlan, frozen=True):
    """The fields that every plan of duplicate play begins with."""

    agents: Names


def read_plan(kind: type[P], content: object, where: str) -> P:
    """Returns the plan that ``to_dict`` of the class ``kind`` wrote; raises :class:`WorkError` for anything else.

    ``where`` names in its sentence what holds the ``content``.
    """
    return convert_with_setup(kind, content, f"{where} has a damaged description of its run", WorkError)
