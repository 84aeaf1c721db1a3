"""The decisions of a turn as JSON.

JSON is put together from parts that are made once: the legal actions by their set, and the features of all rows at once, in a
text of fixed width.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.history import PlayHistory
from nainjaune_env.text.seat import TextSeat

from .messages import FEATURES, MOVES, OBSERVATION, PLIES, TEXT, dumps

MAX_LEGAL_SETS = 1 << 16
"""Pairs of a seat and a set of legal actions whose JSON is kept."""


class FeatureText:
    """Observations as JSON objects of features by name; a number has as many places as its feature's largest, with spaces."""

    def __init__(self, layout: Layout) -> None:
        fields = [dumps(feature.name) + b":" + _blank(feature.shape) for feature in layout]
        parts = (b"{" + b",".join(fields) + b"}").split(b"\0")
        widths = np.repeat([len(str(feature.high)) for feature in layout], [feature.size for feature in layout])
        before = np.cumsum([len(part) for part in parts[:-1]]) + np.cumsum(widths) - widths
        self._blank = np.frombuffer(
            b"".join(part + b" " * width for part, width in zip(parts, [*widths, 0], strict=True)), np.uint8
        )
        self._by_width = []
        for width in set(widths.tolist()):
            which = np.flatnonzero(widths == width)
            digits = np.array([list(b"%*d" % (width, number)) for number in range(min(10**width, 256))], np.uint8)
            self._by_width.append((which, before[which, None] + np.arange(width), digits))

    def encode(self, observation: NDArray[np.uint8]) -> list[bytes]:
        """Returns the features of each ``observation (K, size)``."""
        rows = np.tile(self._blank, (len(observation), 1))
        for which, where, digits in self._by_width:
            rows[:, where] = digits[observation[:, which]]
        text, length = rows.tobytes(), len(self._blank)
        return [text[at : at + length] for at in range(0, len(text), length)]


def _blank(shape: tuple[int, ...]) -> bytes:
    """Returns nested lists of this shape as JSON, with a zero byte in the place of each number."""
    return b"[" + b",".join([_blank(shape[1:])] * shape[0]) + b"]" if shape else b"\0"


class Rows:
    """Makes the decisions of turns under one setup for a bot that wants ``wants``."""

    def __init__(self, setup: Setup, wants: Sequence[str]) -> None:
        """Raises :class:`AgentError` where the game has no plies, and the bot wants them."""
        if PLIES in wants and setup.game.rewind is None:
            raise AgentError(f"Not every seat sees every ply of {setup.game.title}, and the bot wants 'plies'.")
        self._setup = setup
        self._wants = frozenset(wants)
        self._features = FeatureText(setup.layout) if FEATURES in wants else None
        self._seat = TextSeat(setup) if TEXT in wants else None
        self._head = functools.lru_cache(MAX_LEGAL_SETS)(self._make_head)
        self._plies = [
            [b"[%d,%d]" % (seat, action) for action in range(len(setup.game.actions))] for seat in range(setup.players)
        ]

    def _make_head(self, seat: int, legal_bits: int) -> bytes:
        legal = legal_actions(legal_bits)
        row: dict[str, Any] = {"seat": seat, "legal": legal}
        if MOVES in self._wants:
            row["moves"] = [self._setup.game.actions[action] for action in legal]
        return dumps(row)[:-1]

    def encode(self, decisions: DecisionBatch, which: NDArray[np.int64], seeds: NDArray[np.int64] | None) -> list[bytes]:
        """Returns the decisions number ``which (K,)`` of a batch, each a JSON object; ``seeds`` are those of all decisions."""
        seats, legal = decisions.seat[which].tolist(), decisions.legal[which].tolist()
        columns = [[self._head(seat, bits) for seat, bits in zip(seats, legal, strict=True)]]
        if seeds is not None:
            columns.append([b',"seed":%d' % seed for seed in seeds[which].tolist()])
        if self._features is not None:
            columns.append([b',"features":' + text for text in self._features.encode(decisions.observation[which])])
        if OBSERVATION in self._wants:
            rows = decisions.observation[which]
            columns.append([b',"observation":"%b"' % base64.b64encode(row.tobytes()) for row in rows])
        if self._seat is not None:
            columns.append([b',"text":' + dumps(text) for text in self._seat.situations(decisions, which)])
        if PLIES in self._wants:
            columns.append([b',"plies":[%b]' % text for text in self._plies_of(decisions.history[which])])
        return [b"%b}" % b"".join(parts) for parts in zip(*columns, strict=True)]

    def _plies_of(self, history: PlayHistory) -> list[bytes]:
        rows = zip(history.seat.tolist(), history.action.tolist(), history.count.tolist(), strict=True)
        return [
            b",".join([self._plies[seat][action] for seat, action in zip(seats[:count], actions[:count], strict=True)])
            for seats, actions, count in rows
        ]
