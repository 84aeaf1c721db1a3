"""What an OpenSpiel observer shows of a state, as numbers and as text. Does not import OpenSpiel."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.spec import Setup

MAX_RECALL = 1 << 12
"""Most numbers in an information state's tensor; longer rounds only have the string."""


@dataclass(frozen=True)
class Information:
    """Which features an observer shows, as OpenSpiel's ``IIGObservationType`` has it."""

    recall: bool
    """All plies since the deal, not only the current state (``perfect_recall``)."""
    public: bool
    """What all players may know (``public_info``)."""
    private: bool
    """What only the observer may know (``private_info`` is not NONE)."""
    everyone: bool
    """What only the other players may know (``private_info`` is ALL_PLAYERS)."""


def recall_size(setup: Setup, plies: int) -> int:
    """Returns how many numbers hold all that a seat observes and does in a round of ``plies`` plies (see ``TableObserver``)."""
    return setup.players + (plies + 1) * setup.layout.size + plies * len(setup.game.actions)


class TableObserver:
    """Named pieces of what a seat observes: ``player``, and the features of the game's layout by their names.

    ``tensor`` is all pieces in a row, ``float32``, scaled as the layout says; ``dict`` has views of it by name. ``Information``
    selects the features; they are relative to the observing seat, and those that only other players may know are named
    ``<feature>_of_<relative seat>``. With recall every piece has a leading axis, the deal and then each ply (zeros for plies to
    come), and ``actions`` is what the seat did there, or everybody with the private information of all players. Where that
    would be more than ``MAX_RECALL`` numbers, ``tensor`` is None.
    """

    def __init__(self, setup: Setup, plies: int, information: Information) -> None:
        """``plies`` is the length of the longest round."""
        n = setup.players
        self._setup = setup
        self._plies = plies
        self._information = information
        full = setup.layout.omniscient(n) if information.everyone else setup.layout
        features = [feature for feature in full if (information.private if feature.private else information.public)]
        self._layout = Layout(tuple(features))
        columns = [np.arange(full.where(feature.name).start, full.where(feature.name).stop) for feature in features]
        self._columns = np.concatenate([np.arange(0), *columns])
        self._zero, self._scale = full.zero[self._columns], full.scale[self._columns]
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        pieces = [("player", (n,)), *((feature.name, feature.shape) for feature in features)]
        if information.recall:
            pieces = [("player", (n,)), *((feature.name, (plies + 1, *feature.shape)) for feature in features)]
            if information.private:
                pieces.append(("actions", (plies, len(setup.game.actions))))
        sizes = [int(np.prod(shape)) for _, shape in pieces]
        if not information.recall or sum(sizes) <= MAX_RECALL:
            self.tensor = np.zeros(sum(sizes), np.float32)
            parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
            self.dict = {name: part.reshape(shape) for (name, shape), part in zip(pieces, parts, strict=True)}
            steps = plies + 1 if information.recall else 1
            numbers = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])[1 : len(features) + 1]
            self._places = np.concatenate([np.zeros((steps, 0), np.int64), *(own.reshape(steps, -1) for own in numbers)], axis=1)

    def set_from(self, state: Any, player: int) -> None:
        """Writes what ``player`` observes at ``state`` into ``tensor``; before the deal, only who the player is.

        Raises :class:`RulesError` where there is no tensor.
        """
        if self.tensor is None:
            raise RulesError(f"A round of up to {self._plies} plies has no tensor of all of them; use its string.")
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        observed, plies = self._view(state, player)
        if not len(observed):
            return
        self.tensor[self._places[: len(observed)]] = (observed - self._zero) / self._scale
        if self._information.recall and self._information.private:
            for k, (seat, action) in enumerate(plies):
                if self._information.everyone or seat == player:
                    self.dict["actions"][k, action] = 1

    def string_from(self, state: Any, player: int) -> str:
        """Returns the same as text: features by name with their nonzero values; with recall, the changes of each ply."""
        observed, plies = self._view(state, player)
        if not len(observed):
            return f"p{player}"
        if not self._information.recall:
            return f"p{player} {describe(self._layout, observed[-1].tobytes())}".rstrip()
        parts = [f"p{player} {describe(self._layout, observed[0].tobytes())}"]
        for k, (seat, action) in enumerate(plies):
            shown = self._information.private and (self._information.everyone or seat == player)
            did = f"{seat} {self._setup.game.actions[action]}" if shown else ""
            parts.append(f"{did}: {describe_change(self._layout, observed[k].tobytes(), observed[k + 1].tobytes())}")
        return " | ".join(parts)

    def _view(self, state: Any, player: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Returns the features that ``player`` observed, ``(steps, size)``, and the plies; without recall the last step only."""
        observed, plies = state.seen() if self._information.recall else (state.seen_now(), state.plies())
        rows = observed[:, player]
        if self._information.everyone:
            n, private = self._setup.players, self._setup.layout.private
            others = [observed[:, (player + rel) % n][:, private] for rel in range(1, n)]
            rows = np.concatenate([rows, *others], axis=1)
        return rows[:, self._columns], plies


def _feature_text(feature: Feature, values: NDArray[Any]) -> str:
    """Returns ``cards=12 9`` for few numbers, else those that are not the feature's zero, by index: ``hand[3:2]``."""
    if feature.size == 1:
        return f"{feature.name}={int(values.reshape(-1)[0])}"
    if feature.high > 1 and feature.size <= 8:
        return f"{feature.name}={' '.join(str(int(value)) for value in values.reshape(-1))}"
    present = values != feature.zero
    indices = [".".join(map(str, index)) for index in np.argwhere(present)]
    if feature.high > 1:
        indices = [f"{index}:{int(value)}" for index, value in zip(indices, values[present], strict=True)]
    return f"{feature.name}[{' '.join(indices)}]"


# Solvers ask for the same strings again and again; layouts are few and live as long as their games.
@functools.lru_cache(maxsize=1 << 16)
def describe(layout: Layout, observation: bytes) -> str:
    """Returns the features of an observation as text."""
    row = np.frombuffer(observation, np.uint8)
    return " ".join(_feature_text(feature, layout.view(row, feature.name)) for feature in layout)


@functools.lru_cache(maxsize=1 << 16)
def describe_change(layout: Layout, before: bytes, after: bytes) -> str:
    """Returns the features that have changed as text."""
    one, two = (np.frombuffer(row, np.uint8) for row in (before, after))
    wheres = [(feature, layout.where(feature.name)) for feature in layout]
    changed = [feature for feature, where in wheres if not np.array_equal(one[where], two[where])]
    return " ".join(_feature_text(feature, layout.view(two, feature.name)) for feature in changed)
