"""Mixtures: the setups that one network is trained at together, and their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.core.errors import ConfigError, choose_one
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import make_batch
from nainjaune_env.registry import get_game

from ..nets.common_layout import CommonView
from .config import settle

ALL = "all"
"""In place of a preset, or of a number of seats: all there are."""
KEYS = ("preset", "players", "rules")


def mixed_setups(game: str, mixture: Sequence[Mapping[str, Any]], knobs: Mapping[str, Any]) -> list[Setup]:
    """The setups that ``mixture`` names, in its order; an entry is every one of its presets with every one of its seats.

    ``preset`` and ``players`` are one, a list, or ``all`` (so too where they are missing: of players all the preset allows);
    ``rules`` are knobs over the preset and over ``knobs``. Raises :class:`ConfigError` for an entry that is none, and
    :class:`~nainjaune_env.core.errors.RulesError` for setups that there are not.
    """
    setups = []
    for entry in mixture:
        for key in entry:
            if key not in KEYS:
                raise ConfigError(choose_one("key in an entry of 'mixture'", key, KEYS))
        rules = entry.get("rules", {})
        if not isinstance(rules, Mapping):
            raise ConfigError(f"In an entry of 'mixture', 'rules' are knobs and their values, not {rules!r}.")
        presets = get_game(game).presets
        for preset in _each(entry, "preset", list(presets)):
            usual = list(presets[preset].players) if preset in presets else [None]
            setups += [settle(game, preset, players, {**knobs, **rules}) for players in _each(entry, "players", usual)]
    return setups


def _each(entry: Mapping[str, Any], key: str, everything: Sequence[Any]) -> Sequence[Any]:
    value = entry.get(key, ALL)
    if value == ALL:
        return everything
    listed: Sequence[Any] = value if isinstance(value, list) else [value]
    if not listed:
        raise ConfigError(f"In an entry of 'mixture', {key!r} is one, a list of them, or {ALL!r}, not an empty list.")
    return listed


class Tables:
    """The tables of one setup that a trainer deals, and how its network sees them."""

    def __init__(self, setup: Setup, count: int, *, common: bool, device: str = "cpu") -> None:
        """``common``: the network takes the common layout of the game, else the setup's own; ``device``: where the tables are."""
        self.setup = setup
        queued: dict[str, Any] = {} if device == "cpu" else {"device": device, "checks": "later"}
        self.batch = make_batch(setup, count, autoreset=False, **queued)
        self._views = (CommonView(setup), CommonView(setup, omniscient=True)) if common else None

    def __len__(self) -> int:
        return self.batch.num_tables

    def observed(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """What the seats to act at the tables ``index (K,)`` observe, as the network takes it, into ``out (K, size)``."""
        if self._views:
            out[:] = self._views[0](self.batch.observation[index])
        else:
            np.take(self.batch.observation, index, axis=0, out=out, mode="clip")  # not "raise", which copies once more

    def omniscient(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """What a critic that sees all hands sees there, into ``out (K, larger size)``."""
        seen = self.batch.omniscient(index)
        out[:] = self._views[1](seen) if self._views else seen

    def observed_there(self, seen: Tensor) -> Tensor:
        """A copy of what seats observe, ``seen (K, own size) uint8`` on whatever device, as the network takes it."""
        return _placed(self._views[0], seen) if self._views else seen.clone()

    def omniscient_there(self, seen: Tensor) -> Tensor:
        """The same of what a critic sees."""
        return _placed(self._views[1], seen) if self._views else seen.clone()


def _placed(view: CommonView, seen: Tensor) -> Tensor:
    whole = torch.from_numpy(view.rest).to(seen.device).repeat(len(seen), 1)
    whole[:, torch.from_numpy(view.places).to(seen.device)] = seen
    return whole


def share_out(setups: Sequence[Setup], tables: int, *, common: bool, device: str = "cpu") -> list[Tables]:
    """So many tables on ``device``, shared out evenly: at most one more for one setup than for another.

    Raises :class:`ConfigError` where there are fewer tables than setups.
    """
    if tables < len(setups):
        raise ConfigError(f"A mixture of {len(setups)} setups needs as many 'tables', and there are {tables}.")
    shares = np.array_split(np.arange(tables), len(setups))
    return [Tables(setup, len(share), common=common, device=device) for setup, share in zip(setups, shares, strict=True)]


def setup_names(setups: Sequence[Setup]) -> list[str]:
    """A short name for each, ``<preset>-<seats>``; where that is one's already (of other rules), with a number."""
    seen: Counter[str] = Counter()
    names = []
    for setup in setups:
        name = f"{setup.preset}-{setup.players}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names
