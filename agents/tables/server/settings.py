"""The settings of a table, as a page sends them and as they are kept."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any

from nainjaune_env.core.errors import ConfigError, RulesError, quoted, unknown_name_message
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game

from ...measure.distributed.units import setup_from
from ...players.foreign import LONGEST_NAME, shown_name
from ...players.heuristics import yardstick
from ...players.loading import playing_name
from ...study.advice.models import is_advised
from .players import check_agent, offered

MAX_ROUNDS = 100
LONGEST_ABSENCE = 3600
SLOWEST = 10.0
"""The longest pause before a ply, in seconds."""
KEYS = {"game", "preset", "players", "knobs", "seats", "rounds", "pace"}
OPTIONAL = {"seed", "every_ply", "advice", "absence"}
"""Keys that are null where they are left out."""


@dataclass(frozen=True)
class TableSettings:
    """A table before its first deal."""

    setup: Setup
    names: tuple[str, ...]
    """By seat: of a person what they typed, of an agent its own."""
    agents: tuple[str | None, ...]
    """By seat: the agent's name; None for a person."""
    rounds: int | None
    """The number of single rounds; None: a match."""
    seed: int
    pace: float
    """Pause before each ply that no person makes, in seconds."""
    every_ply: bool
    """Whether persons make forced plies, too."""
    advice: bool
    """Whether persons may be advised at their turn."""
    absence: int | None = None
    """The seconds after which an agent takes the place of a person who has left, until they come back; None: never."""

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat, agent in enumerate(self.agents) if agent is None]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON values; :func:`from_dict` is the inverse."""
        values = {name: value for name, value in self.__dict__.items() if name != "setup"}
        return {"setup": self.setup.to_dict(), **values}


_STORED = {
    "setup": (dict,), "names": (list,), "agents": (list,), "rounds": (int, NoneType), "seed": (int,), "pace": (int, float),
    "every_ply": (bool,), "advice": (bool,), "absence": (int, NoneType),
}  # fmt: skip
"""What ``TableSettings.to_dict`` writes, by its type in JSON."""


def check_stored(given: object) -> Mapping[str, Any]:
    """Returns ``given`` if it has the form of what ``to_dict`` wrote; raises :class:`ConfigError` otherwise.

    The game need not be installed.
    """
    about = "The settings of this table in the server's file are damaged"
    if not isinstance(given, dict) or given.keys() != _STORED.keys():
        raise ConfigError(f"{about}: expected an object with {', '.join(_STORED)}, not {quoted(given)}.")
    for name, types in _STORED.items():
        if type(given[name]) not in types:
            raise ConfigError(f"{about}: {name!r} is {quoted(given[name])}.")
    setup, names, agents = given["setup"], given["names"], given["agents"]
    if [type(setup.get(name)) for name in ("game", "preset", "players", "rules")] != [str, str, int, dict]:
        raise ConfigError(f"{about}: 'setup' is {quoted(setup)}.")
    if not setup["players"] == len(names) == len(agents) or {*map(type, names)} - {str} or {*map(type, agents)} - {str, NoneType}:
        raise ConfigError(f"{about}: expected names and agents of {setup['players']} seats, not {quoted([*names, *agents])}.")
    return given


def from_dict(given: object) -> TableSettings:
    """Returns the settings that ``to_dict`` wrote; raises :class:`ConfigError` for anything else."""
    values = check_stored(given)
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return TableSettings(**{**plain, "setup": setup_from(values["setup"])})


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
    if not isinstance(given, dict) or given.keys() - OPTIONAL != KEYS:
        needed, others = (", ".join(sorted(keys)) for keys in (KEYS, OPTIONAL))
        raise ConfigError(f"A new table is an object with {needed}, and may have {others}, not {quoted(given)}.")
    given = {**dict.fromkeys(OPTIONAL), **given}
    if given["game"] not in playable():
        raise ConfigError(f"A table plays one of the games {', '.join(playable())}, not {quoted(given['game'])}.")
    if not isinstance(given["knobs"], dict) or not all(isinstance(name, str) for name in given["knobs"]):
        raise ConfigError(f"Knobs are values by name, not {quoted(given['knobs'])}.")
    game = get_game(given["game"])
    names_of_knobs = game.presets[game.default_preset].rules.names()
    for name in given["knobs"]:
        if name not in names_of_knobs:  # "players" and "self" would be other arguments of setup()
            raise ConfigError(unknown_name_message("knob", name, names_of_knobs))
    setup = game.setup(given["preset"], given["players"], **given["knobs"])
    rounds, pace = given["rounds"], given["pace"]
    if rounds is None:
        setup.game.check_match(setup.rules)
    elif type(rounds) is not int or not 1 <= rounds <= MAX_ROUNDS:
        raise ConfigError(f"A table plays 1 to {MAX_ROUNDS} single rounds, or a match (null), not {quoted(rounds)}.")
    if type(pace) not in (int, float) or not 0 <= pace <= SLOWEST:
        raise ConfigError(f"The pause before a ply is 0 to {SLOWEST:g} seconds, not {quoted(pace)}.")
    names, agents = _seats(given["seats"], setup, extra)
    several = agents.count(None) > 1
    every = several if given["every_ply"] is None else given["every_ply"]
    if type(every) is not bool:
        raise ConfigError(f"every_ply is true, false or null, not {quoted(every)}.")
    advice = not several and is_advised(setup) if given["advice"] is None else given["advice"]
    if type(advice) is not bool:
        raise ConfigError(f"advice is true, false or null, not {quoted(advice)}.")
    absence = given["absence"]
    if absence is not None and (type(absence) is not int or not 5 <= absence <= LONGEST_ABSENCE):
        raise ConfigError(
            f"An agent takes the place of a person after 5 to {LONGEST_ABSENCE} seconds, or never (null), not {quoted(absence)}."
        )
    return TableSettings(setup, names, agents, rounds, _seed(given["seed"]), float(pace), every, advice, absence)


def _seed(given: object) -> int:
    """Returns the seed, written in digits, as JavaScript has no numbers of 64 bits; a random one for null."""
    if given is None:
        return secrets.randbits(63)
    if not isinstance(given, str) or not given.isascii() or not given.isdigit() or len(given) > 20 or int(given) > MAX_SEED:
        raise ConfigError(f"A seed is a whole number from 0 to {MAX_SEED} in digits, not {quoted(given)}.")
    return int(given)


def _seats(given: object, setup: Setup, extra: Sequence[str]) -> tuple[tuple[str, ...], tuple[str | None, ...]]:
    """Returns the names and the agents by seat."""
    if not isinstance(given, list) or len(given) != setup.players or not all(isinstance(seat, dict) for seat in given):
        raise ConfigError(f"A table with {setup.players} seats has a list of as many objects, not {quoted(given)}.")
    names: list[str] = []
    agents: list[str | None] = []
    for number, seat in enumerate(given):
        agent = seat.get("agent")
        if agent is not None:
            agent = playing_name(check_agent(agent, setup.game.name, extra), setup)
        called = seat.get("person") if agent is None else seat.get("name", shown_name(agent))
        known = seat.keys() in ({"agent"}, {"agent", "name"}, {"person"})
        if not known or not isinstance(called, str) or len(called) > LONGEST_NAME:
            raise ConfigError(
                f"In a seat is {{'agent': agent}}, with a 'name' or without, or {{'person': name}}, with a name of at most "
                f"{LONGEST_NAME} characters, not {quoted(seat)}."
            )
        agents.append(agent)
        names.append(printable(called.strip()) or agent or f"person {number}")
    return tuple(names), tuple(agents)
