"""What tournaments, comparisons and measured best responses have in common as plans: agents at tables, in JSON and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from nainjaune_env.core.spec import Setup

from ..distributed.plan_fields import check_fields
from ..distributed.units import setup_from
from ..task import Task


@dataclass(frozen=True)
class DealPlan:
    """The fields that every plan of duplicate play begins with; a field ``task`` is a :class:`~nainjaune_agents.task.Task`."""

    setup: Setup
    agents: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as JSON values."""
        return {key: value.to_dict() if isinstance(value, Setup | Task) else value for key, value in vars(self).items()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Returns the plan that :meth:`to_dict` wrote."""
        values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
        values |= {"setup": setup_from(content["setup"]), "task": Task(**content["task"])}
        return cls(**values)
