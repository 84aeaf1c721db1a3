"""The decisions of a turn as JSON, and what of them a bot is sent as a key for its answers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from .messages import FEATURES, MOVES, OBSERVATION, PLIES, TEXT, dumps


class Rows:
    """Makes the decisions of turns under one setup for a bot that wants ``wants``."""

    def __init__(self, setup: Setup, wants: Sequence[str]) -> None:
        """Raises :class:`AgentError` where the game has no text or no plies, and the bot wants them."""
        if TEXT in wants and setup.game.render_text is None:
            raise AgentError(f"{setup.game.title} has no tables in words, and the bot wants 'text'.")
        if PLIES in wants and setup.game.rewind is None:
            raise AgentError(f"Not every seat sees every ply of {setup.game.title}, and the bot wants 'plies'.")
        self._setup = setup
        self._wants = frozenset(wants)

    def encode(self, decisions: DecisionBatch, which: NDArray[np.int64], seeds: NDArray[np.int64] | None) -> list[bytes]:
        """Returns the decisions number ``which (K,)`` of a batch, each a JSON object; ``seeds`` are those of all decisions."""
        rows = []
        names = self._setup.game.actions
        history = decisions.history if PLIES in self._wants else None
        for k in which.tolist():
            legal = legal_actions(int(decisions.legal[k]))
            seat = int(decisions.seat[k])
            row: dict[str, Any] = {"seat": seat, "legal": legal}
            if seeds is not None:
                row["seed"] = int(seeds[k])
            if MOVES in self._wants:
                row["moves"] = [names[action] for action in legal]
            if FEATURES in self._wants:
                views = self._setup.layout.views(decisions.observation[k])
                row["features"] = {name: view.tolist() for name, view in views.items()}
            if OBSERVATION in self._wants:
                row["observation"] = base64.b64encode(decisions.observation[k].tobytes()).decode()
            if TEXT in self._wants:
                row["text"] = self._text(decisions.tables[k], seat)
            if history is not None:
                count = history.count[k]
                row["plies"] = np.stack([history.seat[k, :count], history.action[k, :count]], axis=1).tolist()
            rows.append(dumps(row))
        return rows

    def _text(self, table: Any, seat: int) -> str:
        render = self._setup.game.render_text
        assert render is not None
        return render(self._setup, table, seat, language="en", color=False, you=seat)

    def keys(self, decisions: DecisionBatch) -> list[bytes]:
        """Returns for each decision bytes that are equal just where the bot is sent the same, but for seeds."""
        parts = [decisions.seat.astype("<i8")[:, None].view(np.uint8), decisions.legal[:, None].view(np.uint8)]
        if self._wants & {FEATURES, OBSERVATION}:
            parts.append(decisions.observation)
        if TEXT in self._wants:
            parts.append(decisions.tables[:, None].view(np.uint8).reshape(len(decisions.index), -1))
        joined = np.ascontiguousarray(np.concatenate(parts, axis=1))
        keys = [row.tobytes() for row in joined]
        if PLIES in self._wants:
            history = decisions.history
            for k, count in enumerate(history.count.tolist()):
                keys[k] += history.seat[k, :count].tobytes() + history.action[k, :count].tobytes()
        return keys
