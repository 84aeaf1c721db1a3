"""Several setups that one network is trained at together (the configuration key ``mixture``), and their tables."""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import field
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message
from nainjaune_env.core.random_rules import random_setups
from nainjaune_env.core.rules import MAX_NUMBER
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game, resolve_setup

from ..base.seeds import Stream, generator
from ..measure.edges import FieldAlone
from ..players.networks.net_agent import NetAgent
from ..players.networks.policy_value import PolicyValueNet
from ..players.networks.torch_nets import specialised
from .base import BaseConfig
from .opponents import PastSelves, Seating, check_seated
from .rollout import Tables

ALL = "all"
"""In place of a preset or of a number of seats: each of them."""
KEYS = ("preset", "players", "rules", "random", "knobs", "seed")


def mixed_setups(game: str, mixture: Sequence[Mapping[str, Any]], knobs: Mapping[str, Any]) -> list[Setup]:
    """Returns the setups of ``mixture`` in its order; an entry is each of its presets with each of its numbers of seats.

    ``preset`` and ``players`` are one value, a list, or ``all``, the default (all players that the preset allows); ``rules`` are
    knobs over the preset and over ``knobs``. An entry with ``random``, a number, is as many of these setups with one to four
    random knobs, or with ``knobs: all`` with random values of all knobs, drawn with ``seed`` (0). Raises :class:`ConfigError` for
    a malformed entry, and :class:`~nainjaune_env.core.errors.RulesError` where there is no such setup.
    """
    setups: list[Setup] = []
    for entry in mixture:
        for key in entry:
            if key not in KEYS:
                raise ConfigError(unknown_name_message("key in an entry of 'mixture'", key, KEYS))
        rules = entry.get("rules", {})
        if not isinstance(rules, Mapping):
            raise ConfigError(f"In an entry of 'mixture', 'rules' are knobs and their values, not {quoted(rules)}.")
        presets, listed = get_game(game).presets, []
        for preset in _each(entry, "preset", list(presets)):
            usual = list(presets[preset].players) if preset in presets else [None]
            listed += [resolve_setup(game, preset, players, {**knobs, **rules}) for players in _each(entry, "players", usual)]
        if "random" not in entry and {"knobs", "seed"} & entry.keys():
            raise ConfigError("In an entry of 'mixture', 'knobs' and 'seed' are for 'random', which is missing.")
        setups += _with_random_knobs(listed, entry) if "random" in entry else listed
    return setups


def _with_random_knobs(setups: Sequence[Setup], entry: Mapping[str, Any]) -> Iterator[Setup]:
    count, seed = entry["random"], entry.get("seed", 0)
    for key, number, low in (("random", count, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= MAX_NUMBER:
            raise ConfigError(
                f"In an entry of 'mixture', {key!r} is a whole number from {low} to {MAX_NUMBER}, not {quoted(number)}."
            )
    if entry.get("knobs", ALL) != ALL:
        raise ConfigError(f"In an entry of 'mixture', 'knobs' is {ALL!r} or left out, not {quoted(entry['knobs'])}.")
    changed = {"knobs": None} if "knobs" in entry else {}
    return itertools.islice(random_setups(setups, generator(seed, Stream.RULES), **changed), count)


def _each(entry: Mapping[str, Any], key: str, everything: Sequence[Any]) -> Sequence[Any]:
    value = entry.get(key, ALL)
    if value == ALL:
        return everything
    listed: Sequence[Any] = value if isinstance(value, list) else [value]
    if not listed or any(isinstance(one, list | dict) for one in listed):
        raise ConfigError(f"In an entry of 'mixture', {key!r} is one, a list of them, or {ALL!r}, not {quoted(value)}.")
    return listed


class MixtureConfig(BaseConfig, frozen=True):
    """The key of trainers that train one network at several setups."""

    mixture: Annotated[list[dict[str, Any]], "setups to train one network at, in place of preset and players; [] = none"] = field(
        default_factory=list
    )

    def setups(self) -> list[Setup]:
        """Returns the setups of training: the mixture's, or the one of :meth:`setup`."""
        return mixed_setups(self.game, self.mixture, self.rules) if self.mixture else [self.setup()]


def tables_of_each(tables: int, setups: int) -> list[int]:
    """Returns the number of tables of each setup, split evenly: the numbers differ by at most one.

    Raises :class:`ConfigError` where there are fewer tables than setups.
    """
    if tables < setups:
        raise ConfigError(f"A mixture of {setups} setups needs as many 'tables' in each process, and there are {tables}.")
    each, more = divmod(tables, setups)
    return [each + (number < more) for number in range(setups)]


def share_out(
    config: Any, part: slice, sizes: tuple[int, int], *, common: bool, past: PastSelves | None = None, rank: int = 0
) -> list[Tables]:
    """Returns the tables ``part`` of a run, split evenly among the setups of ``config``.

    ``sizes`` of observations, and of what a critic observes; ``rank`` of the process. Raises :class:`ConfigError` where there are
    fewer tables than setups, or none for an opponent.
    """
    setups = config.setups()
    counts = tables_of_each(part.stop - part.start, len(setups))
    check_seated(config.shares, counts)
    ends = part.start + np.cumsum([0, *counts])

    def rng_of(*key: int) -> np.random.Generator:
        return generator(config.seed, Stream.TRAINING, *key, *([rank] if rank else []))

    return [
        Tables(
            setup, slice(*ends[number : number + 2].tolist()), task=config.task, sizes=sizes,
            buffers=1 + config.overlap, number=number, common=common,
            device=config.device,
            seating=Seating(config.shares, setup, past, number, len(setups), config.bot_settings),
            rng_of=rng_of,
        )
        for number, setup in enumerate(setups)
    ]  # fmt: skip


def setup_names(setups: Sequence[Setup]) -> list[str]:
    """Returns a short name for each, ``<preset>-<seats>``; with a number where an earlier one (of other rules) has it."""
    seen: Counter[str] = Counter()
    names = []
    for setup in setups:
        name = f"{setup.preset}-{setup.players}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def edges_at(setups: Sequence[Setup], net: PolicyValueNet, fields: Sequence[FieldAlone[Agent]]) -> dict[str, float]:
    """Returns the edge of one network for all tables over one of ``fields`` at each of ``setups``, and the mean.

    As metrics: ``eval/edge`` and ``eval/ci95`` of the mean, and ``eval/edge/<preset>-<seats>`` for each.
    """
    edges = []
    for setup, alone in zip(setups, fields, strict=True):
        edges.append(alone.edge(NetAgent("net", specialised(copy.deepcopy(net).cpu(), setup))))
    means = {f"eval/edge/{name}": edge.mean for name, edge in zip(setup_names(setups), edges, strict=True)}
    half_width = math.hypot(*(edge.ci95 for edge in edges)) / len(edges)
    return {"eval/edge": float(np.mean([edge.mean for edge in edges])), "eval/ci95": half_width, **means}


def normalized_within(bucket: NDArray[np.int64], advantage: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns ``advantage (T,)`` centred and scaled within each ``bucket (T,)``, so that none outweighs another."""
    centred, spread = _moments_within(bucket, advantage)
    return (centred / (spread + 1e-8)).astype(np.float32)


def spread_within(bucket: NDArray[np.int64], values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the standard deviation of ``values (T,)`` within the ``bucket (T,)`` of each, ``(T,)``.

    It is at least a hundredth of the standard deviation of all values, because a bucket may have only a few equal ones.
    """
    least = 0.01 * float(values.std()) + 1e-8
    return np.maximum(_moments_within(bucket, values)[1], least).astype(np.float32)


def _moments_within(bucket: NDArray[np.int64], values: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns ``values (T,)`` less the mean of their ``bucket (T,)``, and the standard deviation within the bucket of each."""
    count = np.maximum(np.bincount(bucket), 1)
    centred = values - (np.bincount(bucket, values) / count)[bucket]
    return centred, np.sqrt(np.bincount(bucket, np.square(centred)) / count)[bucket]
