"""Legal and illegal actions in words, by the names that a game gives them."""

from __future__ import annotations

from collections.abc import Sequence

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import quoted


def action_name(action: int, names: Sequence[str]) -> str:
    """Returns the number of ``action`` with its name, or with the range of ``names`` where it is outside of it."""
    if 0 <= action < len(names):
        return f"{action} ({names[action]})"
    return f"{quoted(action)} (actions are 0 to {len(names) - 1})"


def legal_names(legal_bits: int, names: Sequence[str]) -> str:
    """Returns the numbers and the ``names`` of the actions of the set ``legal_bits``, as text."""
    return ", ".join(action_name(action, names) for action in legal_actions(legal_bits))


def why_illegal(action: int, legal_bits: int, names: Sequence[str], where: str) -> str:
    """Returns the sentence on ``action``, which is not in the set ``legal_bits`` at ``where``; ``names`` are those of all."""
    return f"Action {action_name(action, names)} is not legal at {where}; legal: {legal_names(legal_bits, names)}."
