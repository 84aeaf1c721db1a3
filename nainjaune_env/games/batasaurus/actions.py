"""The actions: 0 to 11 play the card in that slot, 12 is the memorising step."""

from __future__ import annotations

from nainjaune_env.games.batasaurus.state import SLOTS

MEMORISE = SLOTS
"""The action of the memorising step (B4.2), in which a seat looks at its own cards."""
ACTIONS: tuple[str, ...] = (*(f"slot {slot}" for slot in range(SLOTS)), "memorise")
"""Names of the actions, by number."""
