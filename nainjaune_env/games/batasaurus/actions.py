"""The actions: 0 to 11 play the card in that slot, 12 is the memorising step."""

from __future__ import annotations

from nainjaune_env.games.batasaurus.state import SLOTS

MEMORISE = SLOTS
"""The action of the memorising step (B4.2), in which a seat looks at its own cards."""
ACTIONS: tuple[str, ...] = (*(f"slot {slot}" for slot in range(SLOTS)), "memorise")
"""Names of the actions, by number."""


def actions_in(legal_bits: int) -> list[int]:
    """Returns the actions in a set with bit a for action a, ascending."""
    return [action for action in range(len(ACTIONS)) if int(legal_bits) >> action & 1]
