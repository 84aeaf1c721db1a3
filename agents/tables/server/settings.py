"""The settings of a table, as a page sends them and as they are kept."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from nainjaune_env.core.errors import AgentError, ConfigError, RulesError, quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED, check_seed
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game

from ...base.settings import NonNegativeInt, convert
from ...measure.distributed.units import SetupValues, convert_with_setup
from ...players.foreign import LONGEST_NAME, shown_name
from ...players.heuristics import yardstick
from ...players.loading import playing_name
from ...study.advice.models import is_advised
from .players import check_agent, offered
from .protocol import SLOWEST

Pace = Annotated[float, Meta(ge=0, le=SLOWEST)]
Rounds = Annotated[int, Meta(ge=1, le=100)]
Absence = Annotated[int, Meta(ge=5, le=3600)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]


class TableSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A table before its first deal."""

    setup: Setup
    names: tuple[str, ...]
    """By seat: of a person what they typed, of an agent its own."""
    agents: tuple[str | None, ...]
    """By seat: the agent's name; None for a person."""
    rounds: Rounds | None
    """The number of single rounds; None: a match."""
    seed: NonNegativeInt
    pace: Pace
    """Pause before each ply that no person makes, in seconds."""
    every_ply: bool
    """Whether persons make forced plies, too."""
    advice: bool
    """Whether persons may be advised at their turn."""
    absence: Absence | None = None
    """The seconds after which an agent takes the place of a person who has left, until they come back; None: never."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not self.setup.players == len(self.names) == len(self.agents):
            seats = quoted([*self.names, *self.agents])
            raise AgentError(f"Expected names and agents of {self.setup.players} seats, not {seats}.")

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat, agent in enumerate(self.agents) if agent is None]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON values; :func:`from_dict` is the inverse."""
        return {**structs.asdict(self), "setup": self.setup.to_dict()}


def from_dict(given: object) -> TableSettings:
    """Returns the settings that ``to_dict`` wrote; raises :class:`ConfigError` for anything else, or a game that is not here."""
    return convert_with_setup(TableSettings, given, "The settings of this table in the server's file are damaged", ConfigError)


class Seat(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat of a new table: a person's, or an agent's, which may have a name, too."""

    person: Name | None = None
    """What the person typed as their name."""
    agent: str | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        if (self.person is None) == (self.agent is None) or (self.person is not None and self.name is not None):
            given = quoted({key: value for key, value in structs.asdict(self).items() if value is not None})
            raise ConfigError(f"In a seat is {{'agent': agent}}, with a 'name' or without, or {{'person': name}}, not {given}.")


class TableForm(Struct, frozen=True, forbid_unknown_fields=True):
    """A new table, as a page sends it."""

    game: str
    preset: str
    players: int
    knobs: dict[str, Any]
    seats: list[Seat]
    rounds: Rounds | None
    pace: Pace
    seed: str | None = None
    """In digits, as JavaScript has no numbers of 64 bits; None: a random one."""
    every_ply: bool | None = None
    """None: with several persons, since a quick pass would tell that it was forced."""
    advice: bool | None = None
    """None: for one person, where there is advice."""
    absence: Absence | None = None


def playable() -> list[str]:
    """Returns the games that persons can play in a browser, those with words and pictures, the default one first."""
    games = map(get_game, sorted(game_names(), key=lambda name: name != DEFAULT_GAME))
    return [game.name for game in games if game.speaker is not None and game.pictures is not None]


def catalogue(extra: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Returns what a form for a new table needs: the games with their presets, knobs and agents."""
    return [_described(name, offered(name, extra)) for name in playable()]


def _described(name: str, agents: list[str]) -> dict[str, Any]:
    game = get_game(name)
    presets = [
        {
            "name": preset_name,
            "source": preset.source,
            "players": list(preset.players),
            "match": _has_end(name, preset_name),
            "knobs": {field.name: getattr(preset.rules, field.name) for field in fields(preset.rules)},
        }
        for preset_name, preset in game.presets.items()
    ]
    rules = game.presets[game.default_preset].rules
    knobs = [{"name": f.name, **{k: f.metadata[k] for k in _KNOB}} for f in fields(rules)]
    return {
        "name": name, "title": game.title, "preset": game.default_preset, "players": game.default_players, "presets": presets,
        "knobs": knobs, "agents": agents, "agent": yardstick(name),
    }  # fmt: skip


_KNOB = ("kind", "meaning", "choices", "low", "high", "optional")


def _has_end(game: str, preset: str) -> bool:
    spec = get_game(game)
    try:
        spec.check_match(spec.presets[preset].rules)
    except RulesError:
        return False
    return True


def read_settings(given: object, extra: Sequence[str] = ()) -> TableSettings:
    """Returns the settings that a page has sent.

    Raises :class:`ConfigError`, or another error of this package, with a sentence for the person at the page.
    """
    table = convert(TableForm, given, "A new table")
    if table.game not in playable():
        raise ConfigError(f"A table plays one of the games {', '.join(playable())}, not {quoted(table.game)}.")
    setup = SetupValues(table.game, table.preset, table.knobs, table.players).setup()
    if table.rounds is None:
        setup.game.check_match(setup.rules)
    if len(table.seats) != setup.players:
        raise ConfigError(f"A table of {setup.players} has as many seats, not {len(table.seats)}.")
    agents = tuple(
        None if seat.agent is None else playing_name(check_agent(seat.agent, table.game, extra), setup) for seat in table.seats
    )
    names = tuple(_name(number, seat, agent) for number, (seat, agent) in enumerate(zip(table.seats, agents, strict=True)))
    several = agents.count(None) > 1
    every_ply = several if table.every_ply is None else table.every_ply
    advice = not several and is_advised(setup) if table.advice is None else table.advice
    seed = secrets.randbits(63) if table.seed is None else _seed(table.seed)
    return TableSettings(setup, names, agents, table.rounds, seed, table.pace, every_ply, advice, table.absence)


def _seed(digits: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", digits) or int(digits) > MAX_SEED:
        raise ConfigError(f"A seed is a whole number from 0 to {MAX_SEED} in digits, not {quoted(digits)}.")
    return int(digits)


def _name(number: int, seat: Seat, agent: str | None) -> str:
    """Returns the name that the seat ``number`` is shown by."""
    usual = f"person {number}" if agent is None else printable(shown_name(agent))
    return printable((seat.person or seat.name or "").strip()) or usual
