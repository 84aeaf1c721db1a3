"""Model cards: what a trained network is, how it was made, and how strong it is. JSON beside the network's file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import CheckpointError, ConfigError, RulesError, as_sentence
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import read_json
from nainjaune_env.registry import get_game

from ...base.task import DEFAULT_TASK, Start, Task, start_text

FORMAT = "nainjaune-zoo-card"
VERSION = 1
LOCAL_CHANGES = "+"
"""End of a commit in whose checkout files differed, as ``provenance.commit`` writes it."""


MAX_CHANGED = 2
"""Most knobs on a card that may differ from the preset at once: values were measured alone and in pairs (docs/lab/zoo.md)."""


@dataclass(frozen=True)
class Rating:
    """An edge measured by duplicate play."""

    field: str
    """The agent of the field."""
    preset: str
    players: int
    knobs: dict[str, Any]
    """Knobs set over the preset."""
    mean: float
    """In the game's unit (chips, cards) a round."""
    ci95: float
    """Half-width of the 95 % interval."""
    deals: int
    seed: int
    objective: str = DEFAULT_TASK.objective
    """The payoff that is measured."""
    start: Start = DEFAULT_TASK.start
    """The start of the rounds. Cards that are older than these two keys have ratings of the default task."""

    @property
    def task(self) -> Task:
        """The task that is measured; raises :class:`ConfigError` where there is no such task."""
        return Task(self.objective, self.start)

    @property
    def table(self) -> str:
        """The table in words: preset, knobs, seats, and the task where it is not the default one."""
        knobs = (f"{knob} {value}" for knob, value in self.knobs.items())
        parts = [self.preset, *knobs, f"{self.players} seats"]
        if self.objective != DEFAULT_TASK.objective:
            parts.append(f"{self.objective} payoff")
        if self.start != DEFAULT_TASK.start:
            parts.append(start_text(self.start))
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class SearchGain(Rating):
    """What a seat gains by a search over the player, with the player in all others: the gain left to a search."""

    search: str
    """The search, as it stands behind ``@`` in an agent's name."""


@dataclass(frozen=True)
class HouseRules:
    """Tables at which measurements show that a network plays well (``benchmarks/house_rules.py``)."""

    preset: str
    players: list[int]
    knobs: dict[str, list[Any]]
    """Values of knobs; all others are the preset's. A number between two that are listed counts as listed. At most
    ``MAX_CHANGED`` of them differ from the preset's at once."""

    def __post_init__(self) -> None:
        if type(self.players) is not list or not isinstance(self.knobs, dict):
            raise TypeError("house rules have a list of 'players' and 'knobs' by name")
        if any(type(values) is not list for values in self.knobs.values()):
            raise TypeError("the values of a knob in 'house_rules' are a list")

    def include(self, setup: Setup) -> bool:
        """Returns whether ``setup`` is one of the tables: what ends a match does not count."""
        if setup.preset != self.preset or setup.players not in self.players:
            return False
        usual = setup.game.presets[self.preset].rules
        listed = {
            knob: getattr(usual, knob) for knob, values in self.knobs.items() if _is_among(getattr(setup.rules, knob), values)
        }
        if sum(getattr(setup.rules, knob) != value for knob, value in listed.items()) > MAX_CHANGED:
            return False
        try:
            return replace(setup, rules=setup.rules.replace(**listed)).same_round(replace(setup, rules=usual))
        except RulesError:  # the usual values are not allowed beside the others
            return False

    @property
    def table(self) -> str:
        """The tables in words."""
        knobs = (f"{knob} {'/'.join(map(str, values))}" for knob, values in self.knobs.items())
        return ", ".join([self.preset, *knobs, f"{'/'.join(map(str, self.players))} seats"])


def _is_among(value: Any, values: list[Any]) -> bool:
    """Returns whether ``value`` is one of ``values``, or a number between two of them."""
    numbers = [one for one in values if type(one) is int]
    return value in values or (type(value) is int and bool(numbers) and min(numbers) <= value <= max(numbers))


@dataclass(frozen=True)
class ModelCard:
    """The content of a model card."""

    game: str
    preset: str | None
    """The preset it was trained on; None: it plays at any table of the game."""
    players: int | None
    """The number of seats, likewise."""
    knobs: dict[str, Any]
    """Knobs set over the preset in training."""
    house_rules: list[HouseRules]
    """Where it plays besides the rules of its training; for a network for all tables, all tables at which it plays."""
    sha256: str
    """Of the network's file, 64 hexadecimal digits."""
    note: str
    """A description in a sentence."""
    algorithm: str
    made_by: list[str]
    """The commands that reproduce it from a checkout, in order."""
    commit: str | None
    """The git commit it was made with, with ``+`` if files differed from it; None: not from a checkout."""
    seconds: float
    """Total training time."""
    decisions: float
    """Total training decisions (or labels)."""
    machine: str
    ratings: list[Rating]
    search_gains: list[SearchGain] = field(default_factory=list)
    """By ``benchmarks/search_gain.py``; none on cards that are older."""
    fallback: bool = False
    """Whether it plays under all rules of its game: measured at rules drawn at random, not at each that it plays."""

    @property
    def anywhere(self) -> bool:
        """Whether it plays with any number of seats under any preset of its game."""
        return self.preset is None

    def serves(self, setup: Setup) -> bool:
        """Returns whether it can play at tables with ``setup``: by its training, ``house_rules`` or as a ``fallback``."""
        if setup.game.name != self.game:
            return False
        trained = not self.anywhere and self.setup().same_round(setup)
        return trained or self.fallback or any(rules.include(setup) for rules in self.house_rules)

    def setup(self) -> Setup:
        """Returns the setup it was trained under; the game's default one if it plays at any table."""
        return get_game(self.game).setup(self.preset, self.players, **self.knobs)

    @property
    def made_at(self) -> str:
        """The commit in words."""
        if self.commit is None:
            return "at no known commit"
        commit = self.commit.removesuffix(LOCAL_CHANGES)
        return f"at commit {commit[:12]}" + (" with local changes" if commit != self.commit else "")


def save_card(path: Path, card: ModelCard) -> None:
    """Writes ``card`` to ``path`` atomically."""
    write_text(path, json.dumps({"format": FORMAT, "version": VERSION, **asdict(card)}, indent=2, ensure_ascii=False) + "\n")


def load_card(path: Path) -> ModelCard:
    """Reads a card; raises :class:`CheckpointError` if it is missing, incomplete or another kind of file."""
    content = read_json(path, "model card", CheckpointError)
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT or content.pop("version", None) != VERSION:
        raise CheckpointError(f"{str(path)!r} is not a {FORMAT} of version {VERSION}.")
    content = {"search_gains": [], "fallback": False, **content}
    expected = {f.name for f in fields(ModelCard)}
    if content.keys() != expected:
        raise CheckpointError(
            f"The model card at {str(path)!r} has the keys {', '.join(content)}, not {', '.join(sorted(expected))}."
        )
    try:
        for name in ("ratings", "house_rules", "search_gains"):
            if not isinstance(content[name], list):
                raise TypeError(f"{name!r} is not a list")
        house_rules = [HouseRules(**rules) for rules in content["house_rules"]]
        ratings = [Rating(**rating) for rating in content["ratings"]]
        search_gains = [SearchGain(**gain) for gain in content["search_gains"]]
        for rating in (*ratings, *search_gains):
            _ = rating.task
        if type(content["fallback"]) is not bool:
            raise TypeError("'fallback' is not true or false")
        return ModelCard(**{**content, "ratings": ratings, "house_rules": house_rules, "search_gains": search_gains})
    except (TypeError, ConfigError) as error:
        raise CheckpointError(f"The model card at {str(path)!r} is malformed: {as_sentence(error)}") from None
