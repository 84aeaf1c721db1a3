"""Every game as an OpenSpiel game: ``python_<game>``, one round from its deal to its end.

Importing this module enters the games in OpenSpiel's registry::

    import pyspiel
    import nainjaune_env.envs.open_spiel
    game = pyspiel.load_game("python_nain_jaune(preset=classic,players=5,decline=always)")

OpenSpiel wants chance as moves, where a batch has a generator in each table. Both begin the same rounds; a state begun by
``game.seeded_state(seed)`` has played the moves of chance that make the table of ``Batch(setup, 1, seed=seed)``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, IllegalActionError, MissingLibraryError, RecordError, RulesError, choose_one
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.spec import Chance, GameSpec, Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.batch import Batch, legal_actions, loops_of
from nainjaune_env.records.record import Record, record_of
from nainjaune_env.registry import game_names, get_game

try:
    import pyspiel
except ImportError as error:
    raise MissingLibraryError("The OpenSpiel door", "open_spiel", "openspiel") from error

AS_PRESET = "preset"
"""A word as a parameter's value: as the preset has it."""
AS_PRESET_NUMBER = -1
"""The same of a number."""
CHANCE = ("draws", "deal")
RETURNS = ("payoffs", "net")
MOST_DEALS = 100_000
"""Deals that one chance node can choose among: each is made and kept."""
MOST_RECALLED = 1 << 12
"""Numbers in an information state's tensor: of a longer round there is only the string."""


def load_game(text: str) -> Any:
    """``pyspiel.load_game``, with the games of this module registered."""
    return pyspiel.load_game(text)


def game_name(game: GameSpec) -> str:
    """What OpenSpiel calls it."""
    return f"python_{game.name}"


def parameters(game: GameSpec) -> dict[str, Any]:
    """The parameters of the OpenSpiel game and their defaults.

    OpenSpiel gives every parameter one type and a value, so a knob that is left to the preset has a value that says so, yes
    or no are words, and a number that may be None is 0 for None.
    """
    rules = game.presets[game.default_preset].rules
    defaults = {"number": AS_PRESET_NUMBER, "word": AS_PRESET, "flag": AS_PRESET}
    knobs = {f.name: defaults[f.metadata["kind"]] for f in fields(rules)}
    settings = {"chance": "draws", "returns": "payoffs", "skip_forced": True}
    return {"preset": game.default_preset, "players": game.default_players, **settings, **knobs}


def make_setup_of(game: GameSpec, given: dict[str, Any]) -> Setup:
    """The rules that parameters say; raises :class:`RulesError` where they cannot be."""
    knobs = {}
    for f in fields(game.presets[game.default_preset].rules):
        value, about = given[f.name], f.metadata
        if value in (AS_PRESET, AS_PRESET_NUMBER):
            continue
        if about["kind"] == "flag":
            if value not in ("yes", "no"):
                raise RulesError(choose_one(f"value for the knob {f.name!r}:", value, ("yes", "no", AS_PRESET)))
            value = value == "yes"
        knobs[f.name] = None if about["optional"] and value == 0 else value
    return game.setup(given["preset"], given["players"], **knobs)


def recalled(setup: Setup) -> int:
    """Numbers in a tensor of all that a seat has observed and done in a round (see :class:`TableObserver`)."""
    plies = chance_of(setup.game).extent(setup).plies
    return setup.players + (plies + 1) * setup.layout.size + plies * len(setup.game.actions)


def game_type(setup: Setup, net: bool) -> Any:
    """What OpenSpiel asks of a game: for its registry under the default parameters, for each game under its own."""
    utility = pyspiel.GameType.Utility
    game, players = setup.game, setup.game.presets[setup.preset].players
    return pyspiel.GameType(
        short_name=game_name(game),
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility.ZERO_SUM if net else utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=players[-1],
        min_num_players=players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=recalled(setup) <= MOST_RECALLED,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters(game),
    )


class TableGame(pyspiel.Game):  # type: ignore[misc]
    """One round of a game under one set of rules.

    ``preset``, ``players`` and every knob are parameters (see :func:`parameters`), and three more:

    - ``chance``: ``draws`` has one chance node for each draw, as OpenSpiel's card games do: who deals, then card by card.
      ``deal`` has a single one, whose outcomes are all openings that the rules can tell apart, with their probabilities. It is
      for games short enough for solvers, and refused with a :class:`RulesError` where there would be more than ``MOST_DEALS``.
    - ``returns``: ``payoffs`` are those of every other door, net chips or cards won, and what nobody gets makes their sum vary:
      general sum. ``net`` is a payoff less the mean of all seats: zero sum, as ``nainjaune exact`` measures.
    - ``skip_forced``: whether plies without a choice are made by the state itself, as elsewhere. Returns are the same, and so
      is what information states hold: they see every ply, made or asked for.

    States step one table; the compiled loops and the layouts are the game's and shared by all of them.
    """

    spec: GameSpec
    """Set by :func:`register`, in a class for each game."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**parameters(self.spec), **(params or {})}
        self.setup = make_setup_of(self.spec, given)
        for name, allowed in (("chance", CHANCE), ("returns", RETURNS)):
            if given[name] not in allowed:
                raise RulesError(choose_one(f"value for {name!r}:", given[name], allowed))
        self.net = given["returns"] == "net"
        self.skip_forced = bool(given["skip_forced"])
        self.chance = chance_of(self.spec)
        self.extent = self.chance.extent(self.setup)
        self.layout = self.setup.layout
        self.num_actions = len(self.spec.actions)
        self.batch = Batch(self.setup, 1, skip_forced=False, autoreset=False)
        self.openings: list[tuple[int, ...]] = []
        """With one chance node: the draws of every deal."""
        self.probabilities: list[float] = []
        if given["chance"] == "deal":
            self._list_openings()
        n, least, most = self.setup.players, float(self.extent.least), float(self.extent.most)
        if self.net:  # furthest from the mean: one seat at its bound, all others at the other bound
            most, least = (most - least) * (n - 1) / n, (least - most) * (n - 1) / n
        info = pyspiel.GameInfo(
            num_distinct_actions=self.num_actions,
            max_chance_outcomes=len(self.openings) or self._widest_draw(),
            num_players=n,
            min_utility=least,
            max_utility=most,
            utility_sum=0.0 if self.net else None,
            max_game_length=self.extent.plies,
        )
        super().__init__(game_type(self.setup, self.net), info, given)

    def _list_openings(self) -> None:
        listed = list(itertools.islice(self.chance.openings(self.setup), MOST_DEALS + 1))
        if len(listed) > MOST_DEALS:
            raise RulesError(
                f"With chance=deal one node chooses among all deals, at most {MOST_DEALS:,}, and {self.spec.title} under these "
                f"rules has more. Make it shorter, or leave chance=draws."
            )
        deals = sum(ways for _, ways in listed)
        self.openings = [drawn for drawn, _ in listed]
        self.probabilities = [ways / deals for _, ways in listed]

    def _widest_draw(self) -> int:
        """More outcomes than any draw has: those of the first two, and every later one is among what the second left."""
        first = self.chance.outcomes(self.setup, [])
        second = self.chance.outcomes(self.setup, first[:1])
        return max([*first, *second]) + 1

    def __reduce__(self) -> tuple[Any, ...]:
        # its class is made when games are registered and stands in no module; this module's import does that first
        return load_game, (str(self),)

    def new_initial_state(self) -> TableState:
        """Before the deal."""
        return TableState(self)

    def seeded_state(self, seed: int) -> TableState:
        """A state whose chance moves are those that deal the table of ``Batch(setup, 1, seed=seed)``; players are to act.

        Its record (:meth:`TableState.record`) is the one that every other door writes for that seed.
        """
        number = whole(seed)
        if number is None:
            raise DealError(f"A seed is a whole number, not {seed!r}.")
        dealt = Batch(self.setup, 1, seed=number, skip_forced=False, observe=False).tables
        state = self.new_initial_state()
        for outcome in self._chance_moves(dealt[0]):
            state.apply_action(outcome)
        state.take_over(dealt, number)
        return state

    def _chance_moves(self, table: Any) -> list[int]:
        drawn = self.chance.draws(self.setup, table)
        return [self._outcome_of[self.chance.canonical(self.setup, drawn)]] if self.openings else drawn

    @functools.cached_property
    def _outcome_of(self) -> dict[tuple[int, ...], int]:
        return {drawn: outcome for outcome, drawn in enumerate(self.openings)}

    def max_chance_nodes_in_history(self) -> int:
        """How many moves of chance there are."""
        return 1 if self.openings else self.extent.draws

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> TableObserver:
        """An observer of the kind asked for; without one, what a seat observes now."""
        return TableObserver(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def observe(self, table: NDArray[Any]) -> bytes:
        """What each seat observes at ``table (1,)``, seat after seat."""
        n = self.setup.players
        out = np.zeros((n, self.layout.size), np.uint8)
        loops_of(self.spec).observe_tables(np.repeat(table, n), self.setup.kernel_rules, np.arange(n), out)
        return out.tobytes()

    def needs_decision(self) -> bool:
        """Whether the seat to act at the batch's table is to be asked."""
        return bool(self.spec.kernel.needs_decision(self.batch.tables[0], self.setup.kernel_rules, self.batch.legal[0]))


class TableState(pyspiel.State):  # type: ignore[misc]
    """One table. OpenSpiel copies a state attribute by attribute: a record, and bytes, which need no copying."""

    def __init__(self, game: TableGame) -> None:
        super().__init__(game)
        self._table: NDArray[Any] | None = None
        """``(1,)`` the record; None before the deal."""
        self._opening: NDArray[Any] | None = None
        """``(1,)`` the record as it was dealt."""
        self._legal = 0
        """The legal actions as a word; 0 at the end."""
        self._payoffs: bytes = b""
        """``(n,) int64`` at the end."""
        self._seen: bytes = b""
        """``(plies + 1, n, size) uint8``: what each seat observed after the deal and after each ply."""
        self._plies: bytes = b""
        """``(plies, 2) uint8``: who acted, and the action."""
        self._seed: int | None = None

    # ------------------------------------------------------------ what OpenSpiel asks

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's number for chance or the end."""
        if self._table is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(self._table["seat"][0]) if self._legal else int(pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        """Whether the round is over."""
        return self._table is not None and not self._legal

    def _legal_actions(self, player: int) -> list[int]:
        return legal_actions(self._legal) if player == self.current_player() else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What chance can do, and how likely it is."""
        game = self.get_game()
        if game.openings:
            return list(enumerate(game.probabilities))
        outcomes = game.chance.outcomes(game.setup, self.history())
        return [(outcome, 1 / len(outcomes)) for outcome in outcomes]

    def _apply_action(self, action: int) -> None:
        game = self.get_game()
        if self._table is not None:
            self._play(game, int(action))
            return
        outcomes = range(len(game.openings)) or game.chance.outcomes(game.setup, self.history())
        if action not in outcomes:
            raise IllegalActionError(
                f"Chance has no outcome {action} here; it has {len(outcomes)}, from {outcomes[0]} to {outcomes[-1]}."
            )
        drawn = game.openings[action] if game.openings else (*self.history(), int(action))
        if len(drawn) == game.extent.draws:
            self._begin(game, game.chance.opening(game.setup, drawn))

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.get_game()
        if player != pyspiel.PlayerId.CHANCE:
            return str(game.spec.actions[action])
        if game.openings:
            return str(game.chance.describe(game.setup, game.openings[action]))
        return str(game.chance.name(game.setup, self._drawn(), action))

    def returns(self) -> list[float]:
        """Payoffs, or payoffs less their mean; zeros before the end."""
        game = self.get_game()
        if not self.is_terminal():
            return [0.0] * int(game.setup.players)
        payoffs = np.frombuffer(self._payoffs, np.int64).astype(np.float64)
        return [float(value) for value in (payoffs - payoffs.mean() if game.net else payoffs)]

    def __str__(self) -> str:
        """Everything, hidden cards included: for people and for telling states apart."""
        game = self.get_game()
        drawn = self._drawn()
        if self._opening is None:
            return "; ".join(game.chance.name(game.setup, drawn[:k], outcome) for k, outcome in enumerate(drawn)) or "to be dealt"
        plies = np.frombuffer(self._plies, np.uint8).reshape(-1, 2)
        told = [f"{seat} {game.spec.actions[action]}" for seat, action in plies]
        return "\n".join([game.chance.describe(game.setup, drawn), ", ".join(told)]).strip()

    # ------------------------------------------------------------ play

    def _drawn(self) -> tuple[int, ...]:
        """What chance has drawn so far; all of it at once where it has one node."""
        game = self.get_game()
        moves = tuple(self.history()[: game.max_chance_nodes_in_history()])
        return game.openings[moves[0]] if game.openings and moves else moves

    def _begin(self, game: TableGame, table: Any) -> None:
        rows = np.zeros(1, game.spec.table)
        rows[0] = table
        self._opening = rows
        self._enter(game, rows)
        self._seen = game.observe(rows)
        self._run_on(game)

    def _play(self, game: TableGame, action: int) -> None:
        assert self._table is not None
        self._enter(game, self._table)
        self._ply(game, action)
        self._run_on(game)

    def _enter(self, game: TableGame, rows: NDArray[Any]) -> None:
        """Put the table into the game's batch, which is where it is played on."""
        game.batch.set_tables(0, rows)

    def _ply(self, game: TableGame, action: int) -> None:
        batch = game.batch
        acting = int(batch.seat[0])
        batch.step([action])
        self._plies += bytes((acting, action))
        self._seen += game.observe(batch.tables)

    def _run_on(self, game: TableGame) -> None:
        """Make the plies that nobody is asked for, and take the table back from the batch."""
        batch = game.batch
        while game.skip_forced and not batch.done[0] and not game.needs_decision():
            self._ply(game, legal_actions(int(batch.legal[0]))[0])
        self._table = batch.tables.copy()
        self._legal = int(batch.legal[0])
        if batch.done[0]:
            payoffs = np.zeros(game.setup.players, np.int32)
            game.spec.kernel.payoffs(batch.tables[0], game.setup.kernel_rules, payoffs)
            self._payoffs = payoffs.astype(np.int64).tobytes()

    def take_over(self, dealt: NDArray[Any], seed: int) -> None:
        """Begin with the very table ``dealt (1,)`` of this seed: its generator, and which of like cards were dealt."""
        game = self.get_game()
        self._seed = seed
        self._plies = b""
        self._begin(game, dealt[0])

    # ------------------------------------------------------------ beyond OpenSpiel

    @property
    def table(self) -> Any:
        """A copy of the table, one record of the game's; raises :class:`DealError` before the deal."""
        if self._table is None:
            raise DealError("There is no table yet: chance has moves to make.")
        return self._table.copy()[0]

    def seen(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The plies so far: what each seat observed, ``(plies + 1, n, size)``, and ``(plies, 2)`` who did what."""
        game = self.get_game()
        seen = np.frombuffer(self._seen, np.uint8).reshape(-1, game.setup.players, game.layout.size)
        return seen, np.frombuffer(self._plies, np.uint8).reshape(-1, 2)

    def record(self, agents: Sequence[str] | None = None) -> Record:
        """The finished round as a record (see ``nainjaune_env.records.record``); ``agents`` are names in seat order.

        Raises :class:`RecordError` while it goes on.
        """
        if not self.is_terminal() or self._opening is None:
            raise RecordError("A record is of a finished round, and this one is not.")
        game = self.get_game()
        plies = [int(action) for action in self.seen()[1][:, 1]]
        rng = np.random.default_rng(int(self._opening["rng"][0]))
        names = [f"seat_{seat}" for seat in range(game.setup.players)] if agents is None else agents
        return record_of(
            game.setup, self._opening[0], plies, rng, every_ply=True, single_round=True, agents=names, seed=self._seed
        )


class TableObserver:
    """Named pieces of what a seat observes: ``player``, and the slots of the game's layout by their names.

    ``tensor`` is all pieces in a row, ``dict`` views of it by name, ``float32``, scaled as the layout says. With public
    information there are the slots that all may know, as the seat sees them, relative to itself; with private information those
    that only the observer may know; with that of all players, those of the others as well, as ``<slot>_of_<relative seat>``. With
    perfect recall each piece has an axis in front, the deal and then every ply (zeros for plies to come), and ``actions`` is what
    the seat itself, or with the private information of all players everybody, did there. Where that would be more than
    ``MOST_RECALLED`` numbers there is no tensor.
    """

    def __init__(self, game: TableGame, kind: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise RulesError(f"Observers take no parameters, and got {params!r}.")
        n = game.setup.players
        self._game = game
        self._recall = kind.perfect_recall
        self._everyone = kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        self._private = kind.private_info != pyspiel.PrivateInfoType.NONE
        whole_layout = game.layout.omniscient(n) if self._everyone else game.layout
        slots = [slot for slot in whole_layout if (self._private if slot.private else kind.public_info)]
        self._layout = Layout(tuple(slots))
        spans = [np.arange(whole_layout.where(slot.name).start, whole_layout.where(slot.name).stop) for slot in slots]
        self._columns = np.concatenate([np.arange(0), *spans])
        self._zero, self._scale = whole_layout.zero[self._columns], whole_layout.scale[self._columns]
        self.tensor: NDArray[np.float32] | None = None
        self.dict: dict[str, NDArray[np.float32]] = {}
        pieces = [("player", (n,)), *((slot.name, slot.shape) for slot in slots)]
        if self._recall:
            plies = game.extent.plies
            pieces = [("player", (n,)), *((slot.name, (plies + 1, *slot.shape)) for slot in slots)]
            if self._private:
                pieces.append(("actions", (plies, game.num_actions)))
        sizes = [int(np.prod(shape)) for _, shape in pieces]
        if not self._recall or sum(sizes) <= MOST_RECALLED:
            self.tensor = np.zeros(sum(sizes), np.float32)
            parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
            self.dict = {name: part.reshape(shape) for (name, shape), part in zip(pieces, parts, strict=True)}

    def set_from(self, state: TableState, player: int) -> None:
        """Write into ``tensor`` what ``player`` observes at ``state``; before the deal, no more than who it is."""
        if self.tensor is None:
            longest = self._game.extent.plies
            raise RulesError(f"A round of up to {longest} plies has no tensor of all of them; there is its string.")
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        seen, plies = self._view(state, player)
        if not len(seen):
            return
        scaled = (seen - self._zero) / self._scale
        for slot in self._layout:
            piece, views = self.dict[slot.name], self._layout.view(scaled, slot.name)
            if self._recall:
                piece[: len(seen)] = views
            else:
                piece[...] = views[-1]
        if self._recall and self._private:
            for k, (seat, action) in enumerate(plies):
                if self._everyone or seat == player:
                    self.dict["actions"][k, action] = 1

    def string_from(self, state: TableState, player: int) -> str:
        """The same in words: slots by name with what is not 0 in them. With recall, after the deal what changed at each ply."""
        seen, plies = self._view(state, player)
        if not len(seen):
            return f"p{player}"
        if not self._recall:
            return f"p{player} {describe(self._layout, seen[-1].tobytes())}".rstrip()
        told = [f"p{player} {describe(self._layout, seen[0].tobytes())}"]
        for k, (seat, action) in enumerate(plies):
            shown = self._private and (self._everyone or seat == player)
            did = f"{seat} {self._game.spec.actions[action]}" if shown else ""
            told.append(f"{did}: {describe_change(self._layout, seen[k].tobytes(), seen[k + 1].tobytes())}")
        return " | ".join(told)

    def _view(self, state: TableState, player: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The rows ``(steps, size)`` of the observer's slots as ``player`` saw them, the last alone without recall; the plies."""
        seen, plies = state.seen()
        if not self._recall:
            seen = seen[-1:]
        rows = seen[:, player]
        if self._everyone:
            n = self._game.setup.players
            others = [seen[:, (player + rel) % n][:, self._game.layout.private] for rel in range(1, n)]
            rows = np.concatenate([rows, *others], axis=1)
        return rows[:, self._columns], plies


def chance_of(game: GameSpec) -> Chance:
    """What ``game`` says of chance; raises :class:`RulesError` where it says nothing."""
    if game.chance is None:
        raise RulesError(f"{game.title} does not say what chance does before a round, and OpenSpiel must know.")
    return game.chance


def _slot_text(slot: Feature, values: NDArray[Any]) -> str:
    """``cards=12 9`` for few numbers, else those that are not the slot's nothing, by index: ``hand[3]=2``."""
    if slot.size == 1:
        return f"{slot.name}={int(values.reshape(-1)[0])}"
    if slot.high > 1 and slot.size <= 8:
        return f"{slot.name}={' '.join(str(int(value)) for value in values.reshape(-1))}"
    there = [".".join(map(str, index)) for index in np.argwhere(values != slot.zero)]
    many = slot.high > 1
    held = [f"{index}:{int(value)}" if many else index for index, value in zip(there, values[values != slot.zero], strict=True)]
    return f"{slot.name}[{' '.join(held)}]"


# Solvers ask for the same strings again and again; layouts are few and live as long as their games.
@functools.lru_cache(maxsize=1 << 16)
def describe(layout: Layout, observation: bytes) -> str:
    """The slots of an observation in words."""
    row = np.frombuffer(observation, np.uint8)
    return " ".join(_slot_text(slot, layout.view(row, slot.name)) for slot in layout)


@functools.lru_cache(maxsize=1 << 16)
def describe_change(layout: Layout, before: bytes, after: bytes) -> str:
    """The slots that are not as before, in words."""
    one, two = (np.frombuffer(row, np.uint8) for row in (before, after))
    changed = [slot for slot in layout if not np.array_equal(one[layout.where(slot.name)], two[layout.where(slot.name)])]
    return " ".join(_slot_text(slot, layout.view(two, slot.name)) for slot in changed)


def register() -> None:
    """Enter every game that says what chance does in OpenSpiel's registry, once."""
    for name in game_names():
        game = get_game(name)
        if game.chance is None or game_name(game) in pyspiel.registered_names():
            continue
        made = type(f"{game.title.replace(' ', '')}Game", (TableGame,), {"spec": game, "__doc__": TableGame.__doc__})
        pyspiel.register_game(game_type(game.setup(game.default_preset, game.default_players), net=False), made)


register()
