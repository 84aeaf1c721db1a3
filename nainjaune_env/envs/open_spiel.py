"""Every game as an OpenSpiel game, ``python_<game>``: one round from its deal to its end.

Importing this module registers the games. In OpenSpiel chance is a player, where a batch has a generator in each table. Both deal
the same rounds: ``game.seeded_state(seed)`` takes the chance outcomes that deal the table of ``Batch(setup, 1, seed=seed)``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import (
    DealError,
    IllegalActionError,
    MissingLibraryError,
    RecordError,
    RulesError,
    quoted,
    unknown_name_message,
)
from nainjaune_env.core.spec import Chance, GameSpec, Setup, list_openings
from nainjaune_env.core.validation import check_seed, whole
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import loops_of, numbers_of, replay_loops_of
from nainjaune_env.engine.determinize import generator_states
from nainjaune_env.engine.log_arrays import ACTION, COUNT, LogArrays
from nainjaune_env.envs.open_spiel_observer import MAX_RECALL, Information, TableObserver, recall_size
from nainjaune_env.records.record import Record, record_of
from nainjaune_env.registry import game_names, get_game

try:
    import pyspiel
except ImportError as error:
    raise MissingLibraryError("The OpenSpiel adaptor", "open_spiel", "openspiel") from error

CHANCE_PLAYER, TERMINAL_PLAYER = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
AS_PRESET = "preset"
"""A text parameter's value: keep the preset's."""
AS_PRESET_NUMBER = -1
"""A number parameter's value: keep the preset's."""
CHANCE = ("draws", "deal")
RETURNS = ("payoffs", "net")
MAX_CHANCE_OUTCOMES = 100_000
"""Most outcomes of a single chance node, which are all listed and kept."""


actions_of = functools.lru_cache(maxsize=1 << 14)(legal_actions)


def load_game(text: str) -> Any:
    """Calls ``pyspiel.load_game``, with the games of this module registered."""
    return pyspiel.load_game(text)


def game_name(game: GameSpec) -> str:
    """Returns the game's name in OpenSpiel."""
    return f"python_{game.name}"


def parameters(game: GameSpec) -> dict[str, Any]:
    """Returns the parameters of the OpenSpiel game and their defaults.

    In OpenSpiel every parameter has one type and a value. So a special value keeps the preset's, a flag is the text ``yes`` or
    ``no``, and 0 stands for None in an optional number.
    """
    rules = game.presets[game.default_preset].rules
    defaults = {"number": AS_PRESET_NUMBER, "word": AS_PRESET, "flag": AS_PRESET}
    knobs = {f.name: defaults[f.metadata["kind"]] for f in fields(rules)}
    settings = {"chance": "draws", "returns": "payoffs", "skip_forced": True}
    return {"preset": game.default_preset, "players": game.default_players, **settings, **knobs}


def make_setup_of(game: GameSpec, given: dict[str, Any]) -> Setup:
    """Returns the setup of these parameters; raises :class:`RulesError` where a value is not allowed."""
    knobs = {}
    for f in fields(game.presets[game.default_preset].rules):
        value, about = given[f.name], f.metadata
        if value in (AS_PRESET, AS_PRESET_NUMBER):
            continue
        if about["kind"] == "flag":
            if value not in ("yes", "no"):
                raise RulesError(unknown_name_message(f"value for the knob {f.name!r}:", value, ("yes", "no", AS_PRESET)))
            value = value == "yes"
        knobs[f.name] = None if about["optional"] and value == 0 else value
    return game.setup(given["preset"], given["players"], **knobs)


def game_type(setup: Setup, net: bool) -> Any:
    """Returns OpenSpiel's ``GameType``: for the registry with the default parameters, for each game with its own."""
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
        provides_information_state_tensor=recall_size(setup, chance_of(game).extent(setup).plies) <= MAX_RECALL,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters(game),
    )


class TableGame(pyspiel.Game):  # type: ignore[misc]
    """One round of a game under one set of rules.

    ``preset``, ``players`` and every knob are parameters (see :func:`parameters`), and three more:

    - ``chance``: ``draws`` has one chance node per draw, as OpenSpiel's card games do: who deals, then card by card. ``deal`` has
      a single one, whose outcomes are all openings that the rules can distinguish, with their probabilities. It is for games
      short enough for solvers; more than ``MAX_CHANCE_OUTCOMES`` outcomes raise a :class:`RulesError`.
    - ``returns``: ``payoffs`` are as in every other adaptor: net chips or cards won. Their sum varies, because pots keep chips
      and ties leave cards to nobody: general sum. ``net`` is a payoff less the mean of all seats, as ``nainjaune exact``
      measures: zero sum.
    - ``skip_forced``: whether a state plays forced plies itself, as in other adaptors. Returns and information states are the
      same either way: they contain every ply.

    A state is one table; all states share the game's compiled loops and layout.
    """

    spec: GameSpec
    """Set by :func:`register`, which makes a subclass for each game."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**parameters(self.spec), **(params or {})}
        self.setup = make_setup_of(self.spec, given)
        for name, allowed in (("chance", CHANCE), ("returns", RETURNS)):
            if given[name] not in allowed:
                raise RulesError(unknown_name_message(f"value for {name!r}:", given[name], allowed))
        self.net = given["returns"] == "net"
        self.chance = chance_of(self.spec)
        self.extent = self.chance.extent(self.setup)
        self.layout = self.setup.layout
        self.batch = Batch(self.setup, 1, skip_forced=False, autoreset=False)
        self.numbers = numbers_of(self.setup, self.batch.options._replace(skip_forced=int(given["skip_forced"])))
        self.loops, self.replay_loops = loops_of(self.setup), replay_loops_of(self.setup)
        self.no_log = self.new_log()
        self.openings: list[tuple[int, ...]] = []
        """With ``chance=deal``: the draws of every deal; else empty."""
        self.probabilities: list[float] = []
        if given["chance"] == "deal":
            self._list_openings()
        n, least, most = self.setup.players, float(self.extent.least), float(self.extent.most)
        if self.net:  # furthest from the mean: one seat at its bound, all others at the other bound
            most, least = (most - least) * (n - 1) / n, (least - most) * (n - 1) / n
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.spec.actions),
            max_chance_outcomes=len(self.openings) or self._widest_draw(),
            num_players=n,
            min_utility=least,
            max_utility=most,
            utility_sum=0.0 if self.net else None,
            max_game_length=self.extent.plies,
        )
        super().__init__(game_type(self.setup, self.net), info, given)

    def new_log(self) -> LogArrays:
        """Returns the log of one table with space for a round, which OpenSpiel's states keep themselves."""
        space = self.extent.plies + 1
        return LogArrays(np.zeros((1, 2), self.spec.table), np.zeros((1, space, 2), np.int8), np.zeros((2, 3), np.int64))

    def _list_openings(self) -> None:
        listed = list_openings(self.chance, self.setup, MAX_CHANCE_OUTCOMES)
        if listed is None:
            raise RulesError(
                f"With chance=deal a single chance node has at most {MAX_CHANCE_OUTCOMES:,} outcomes, "
                f"and {self.spec.title} under these rules has more deals. Make the game shorter, or use chance=draws."
            )
        deals = sum(ways for _, ways in listed)
        self.openings = [drawn for drawn, _ in listed]
        self.probabilities = [ways / deals for _, ways in listed]

    def _widest_draw(self) -> int:
        """Returns an upper bound on the outcomes of a draw: later draws choose from what the second one left."""
        first = self.chance.outcomes(self.setup, [])
        second = self.chance.outcomes(self.setup, first[:1])
        return max([*first, *second]) + 1

    def __reduce__(self) -> tuple[Any, ...]:
        # no module contains the class, which `register` makes; unpickling imports this module, which registers it
        return load_game, (str(self),)

    def new_initial_state(self) -> TableState:
        """Returns the state before the deal."""
        return TableState(self)

    def seeded_state(self, seed: int) -> TableState:
        """Returns the state after the chance outcomes that deal the table of ``Batch(setup, 1, seed=seed)``.

        Its record (:meth:`TableState.record`) is the one that every other adaptor writes for that seed.
        """
        dealt = Batch(self.setup, 1, seed=check_seed(seed), skip_forced=False, observe=False).tables
        state = self.dealt_state(self.chance.draws(self.setup, dealt[0]))
        state._round.begin(dealt[0], int(seed))  # with its generator, and its choice among like cards
        return state

    def dealt_state(self, drawn: Sequence[int]) -> TableState:
        """Returns the state after the chance outcomes that stand for ``drawn``, all draws of a deal."""
        state = self.new_initial_state()
        for outcome in [self._outcome_of[self.chance.canonical(self.setup, drawn)]] if self.openings else drawn:
            state.apply_action(outcome)
        return state

    @functools.cached_property
    def _outcome_of(self) -> dict[tuple[int, ...], int]:
        return {drawn: outcome for outcome, drawn in enumerate(self.openings)}

    def max_chance_nodes_in_history(self) -> int:
        """Returns the number of chance nodes in a round."""
        return 1 if self.openings else self.extent.draws

    @functools.cached_property
    def recall_observer(self) -> TableObserver:
        """The observer of information states."""
        return self.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> TableObserver:
        """Returns an observer of this type; None shows what a seat observes now."""
        if params:
            raise RulesError(f"Observers take no parameters, not {quoted(params)}.")
        kind, private = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), pyspiel.PrivateInfoType
        information = Information(
            recall=kind.perfect_recall,
            public=kind.public_info,
            private=kind.private_info != private.NONE,
            everyone=kind.private_info == private.ALL_PLAYERS,
        )
        return TableObserver(self.setup, self.extent.plies, information)

    def __deepcopy__(self, memo: dict[int, Any]) -> TableGame:
        """Returns itself, as a game never changes: the copy of a state, made attribute by attribute, has the same game."""
        return self


class Round:
    """All that a state keeps, as one attribute, which is quickly copied."""

    __slots__ = (
        "drawn", "game", "legal", "log", "memory", "opening", "outcomes", "player", "seed", "seen", "table",
    )  # fmt: skip

    def __init__(self, game: TableGame) -> None:
        self.game = game
        self.player = CHANCE_PLAYER
        """The seat to act, or OpenSpiel's number for chance or the end."""
        self.drawn: list[int] = []
        """The draws so far; with ``chance=deal`` the only outcome stands for all of them."""
        self.outcomes: Sequence[int] | None = None
        """What chance can draw next; None: not determined yet, before the first draw."""
        self.opening = b""
        """The table as it was dealt; empty before the deal."""
        self.memory = bytearray()
        """The table, the memory of ``table``."""
        self.table: NDArray[Any] | None = None
        """``(1,)`` the record; None before the deal."""
        self.legal = 0
        """The legal actions as bits; 0 at the end."""
        self.log: LogArrays = game.no_log
        """The log of the table, with space for all plies of a round."""
        self.seen: NDArray[np.uint8] | None = None
        """``(plies + 1, n, size)``: what each seat observed after the deal and after each ply; None: not determined yet."""
        self.seed: int | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Round:
        """Returns a copy with its own table and plies; the opening and what was observed are never changed and can be shared."""
        copied = Round.__new__(Round)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        copied.drawn = self.drawn[:]
        if self.table is not None:
            copied.place(self.memory)
            copied.log = LogArrays(self.log.tables, self.log.plies.copy(), self.log.marks.copy())
        return copied

    def place(self, table: Any) -> None:
        """Keeps a copy of ``table``, bytes or a record."""
        self.memory = bytearray(bytes(table))
        self.table = np.frombuffer(self.memory, self.game.spec.table)

    def begin(self, table: Any, seed: int | None = None) -> None:
        """Begins the round with ``table``, one record as it was dealt."""
        self.place(table)
        self.opening, self.seed = bytes(self.memory), seed
        self.log = self.game.new_log()
        self.play(-1)

    def play(self, action: int) -> None:
        """Makes a ply, unless ``action`` is negative, and the forced ones after it."""
        game = self.game
        seat, self.legal = game.loops.step_round(self.table, game.numbers, self.log, action)
        self.player = seat if self.legal else TERMINAL_PLAYER
        self.seen = None

    @property
    def plies(self) -> NDArray[np.int8]:
        """The seat and the action of each ply so far, ``(plies, 2)``."""
        return self.log.plies[0, : int(self.log.marks[0, COUNT])]

    def observed_now(self) -> NDArray[np.uint8]:
        """Returns what each seat observes now, ``(1, n, size)``; ``(0, n, size)`` before the deal."""
        game = self.game
        observation = np.zeros((1, game.setup.players, game.layout.size), np.uint8)
        if self.table is None:
            return observation[:0]
        game.loops.observe_seats(self.table, game.numbers, 0, observation[0])
        return observation

    def observed(self) -> NDArray[np.uint8]:
        """Returns ``seen``; the plies are played again from the deal on."""
        if self.seen is None:
            game, actions = self.game, np.ascontiguousarray(self.plies[:, ACTION])
            rows = len(actions) + 1 if self.opening else 0
            self.seen = np.zeros((rows, game.setup.players, game.layout.size), np.uint8)
            if self.opening:
                replayed = np.frombuffer(bytearray(self.opening), game.spec.table)
                game.replay_loops.observe_plies(replayed, game.numbers, actions, self.seen)
        return self.seen


class TableState(pyspiel.State):  # type: ignore[misc]
    """One table. What it observed is determined when it is read: most callers never do, or read a single seat's."""

    def __init__(self, game: TableGame) -> None:
        super().__init__(game)
        self._round = Round(game)

    # ------------------------------------------------------------ OpenSpiel's interface

    def current_player(self) -> int:
        """Returns the seat to act, or OpenSpiel's number for chance or the end."""
        return self._round.player

    def is_terminal(self) -> bool:
        """Returns whether the round is over."""
        return self._round.player == TERMINAL_PLAYER

    def is_chance_node(self) -> bool:
        """Returns whether chance is to act."""
        return self._round.player == CHANCE_PLAYER

    # Python finds these before OpenSpiel's own, which call current_player(), chance_outcomes() and _legal_actions() from C++

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Returns the legal actions of ``player``, None: of the player to act; at a chance node the outcomes, for any player."""
        now = self._round
        if now.player == CHANCE_PLAYER:
            return [*self._outcomes()]
        return [*actions_of(now.legal)] if player is None or player == now.player else []

    def _legal_actions(self, player: int) -> list[int]:
        return [*actions_of(self._round.legal)] if player == self._round.player else []

    def _outcomes(self) -> Sequence[int]:
        now = self._round
        if now.outcomes is None:
            game = now.game
            now.outcomes = range(len(game.openings)) or game.chance.outcomes(game.setup, [])
        return now.outcomes

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the outcomes of chance and their probabilities."""
        if self._round.game.openings:
            return list(enumerate(self._round.game.probabilities))
        outcomes = self._outcomes()
        return [(outcome, 1 / len(outcomes)) for outcome in outcomes]

    def _apply_action(self, action: int) -> None:
        now = self._round
        if now.table is None:
            self._draw(now, action)
        elif action >= 0 and now.legal >> action & 1:
            now.play(action)
        else:
            now.game.batch.set_tables(0, now.table, trusted=True)
            raise IllegalActionError(now.game.batch.why_illegal(0, action))

    def _draw(self, now: Round, action: int) -> None:
        game, outcomes = now.game, self._outcomes()
        if action not in outcomes:
            raise IllegalActionError(
                f"Chance has no outcome {action} here; it has {len(outcomes)}, from {outcomes[0]} to {outcomes[-1]}."
            )
        now.drawn += game.openings[action] if game.openings else (action,)
        if len(now.drawn) == game.extent.draws:
            now.begin(game.chance.opening(game.setup, now.drawn))
        else:
            now.outcomes = game.chance.outcomes(game.setup, now.drawn, outcomes)

    def _action_to_string(self, player: int, action: int) -> str:
        game = self._round.game
        if player != pyspiel.PlayerId.CHANCE:
            return str(game.spec.actions[action])
        if game.openings:
            return str(game.chance.describe(game.setup, game.openings[action]))
        return str(game.chance.name(game.setup, self._round.drawn, action))

    def returns(self) -> list[float]:
        """Returns the payoffs, or with ``returns=net`` the payoffs less their mean; zeros before the end."""
        now = self._round
        setup = now.game.setup
        if now.table is None or now.legal:
            return [0.0] * setup.players
        payoffs = np.zeros(setup.players, np.int32)
        now.game.spec.kernel.payoffs(now.table[0], setup.kernel_rules, payoffs)
        net = payoffs.astype(np.float64)
        return [float(value) for value in (net - net.mean() if now.game.net else net)]

    def __str__(self) -> str:
        """Returns the whole state as text, hidden cards included; different states have different texts."""
        now = self._round
        game, drawn = now.game, now.drawn
        if now.table is None:
            return "; ".join(game.chance.name(game.setup, drawn[:k], outcome) for k, outcome in enumerate(drawn)) or "to be dealt"
        taken = [f"{seat} {game.spec.actions[action]}" for seat, action in self.plies()]
        return "\n".join([game.chance.describe(game.setup, drawn), ", ".join(taken)]).strip()

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> TableState:
        """Returns a state drawn uniformly from those that ``player_id`` cannot distinguish from this one, for IS-MCTS.

        In it the player has the same information state, and the same seat is to act. ``probability_sampler`` returns uniform
        numbers in [0, 1), the only source of chance. Raises :class:`DealError` before the deal and at the end, and for a player
        that does not exist.
        """
        now = self._round
        game = now.game
        player = whole(player_id)
        if player is None or player not in range(game.setup.players):
            raise DealError(f"Players are 0 to {game.setup.players - 1}, not {quoted(player_id)}.")
        if now.table is None or self.is_terminal():
            raise DealError("States are resampled while a round is played, after the deal and before the end.")
        plies = [(int(seat), int(action)) for seat, action in self.plies()]
        opening = np.frombuffer(now.opening, game.spec.table)[0]
        while True:
            number = int(generator_states(np.array(probability_sampler())))
            drawn, actions = game.chance.resample(game.setup, opening, now.table[0], plies, player, number)
            state: TableState = game.dealt_state(drawn)
            while (taken := len(state.plies())) < len(actions):
                state.apply_action(actions[taken])
            if taken == len(actions):
                return state
            # with skip_forced: the seat to act would have had no choice, so the state would not have stopped here

    # OpenSpiel's own copy the tensor number by number, and make a state before the deal at each call, to know its size

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Returns what ``player`` observes, None: the player to act, as numbers: those of the game's default observer.

        Raises ``pyspiel.SpielError`` for a player that does not exist, such as chance.
        """
        now = self._round
        game, seat = now.game, now.player if player is None else index(player)
        if now.table is None or not 0 <= seat < game.setup.players:
            return list(super().observation_tensor(seat))
        observation, layout = np.empty(game.layout.size, np.uint8), game.layout
        tensor = np.empty(game.setup.players + layout.size, np.float32)
        game.loops.observe_scaled(now.table, game.numbers, seat, layout.zero, layout.scale, observation, tensor)
        numbers: list[float] = tensor.tolist()
        return numbers

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Returns all that ``player`` has observed and done since the deal, None: the player to act, as numbers.

        Raises ``pyspiel.SpielError`` as :meth:`observation_tensor` does, and :class:`RulesError` where rounds are too long.
        """
        now = self._round
        seat, observer = now.player if player is None else index(player), now.game.recall_observer
        if now.table is None or observer.tensor is None or not 0 <= seat < now.game.setup.players:
            return list(super().information_state_tensor(seat))
        observer.set_from(self, seat)
        numbers: list[float] = observer.tensor.tolist()
        return numbers

    # ------------------------------------------------------------ beyond OpenSpiel

    @property
    def table(self) -> Any:
        """A copy of the table, one record of the game's dtype; raises :class:`DealError` before the deal."""
        if self._round.table is None:
            raise DealError("There is no table yet: chance nodes come first.")
        return np.frombuffer(bytes(self._round.memory), self._round.game.spec.table).copy()[0]

    def plies(self) -> NDArray[np.int8]:
        """Returns the seat and the action of each ply so far, ``(plies, 2)``."""
        return self._round.plies

    def seen_now(self) -> NDArray[np.uint8]:
        """Returns what each seat observes now, ``(1, n, size)``; ``(0, n, size)`` before the deal."""
        return self._round.observed_now()

    def seen(self) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Returns what each seat observed so far, ``(plies + 1, n, size)``, and seat and action of each ply, ``(plies, 2)``."""
        return self._round.observed(), self.plies()

    def record(self, agents: Sequence[str] | None = None) -> Record:
        """Returns the finished round as a record (``nainjaune_env.records.record``); ``agents`` are names in seat order.

        Raises :class:`RecordError` while the round runs.
        """
        now = self._round
        if not self.is_terminal():
            raise RecordError("A record is of a finished round, and this one is not.")
        setup, opening = now.game.setup, np.frombuffer(now.opening, now.game.spec.table)[0]
        actions = self.plies()[:, 1].tolist()
        names = [f"seat_{seat}" for seat in range(setup.players)] if agents is None else agents
        return record_of(setup, opening, actions, single_round=True, agents=names, seed=now.seed)


def chance_of(game: GameSpec) -> Chance:
    """Returns the game's chance module; raises :class:`RulesError` where it has none."""
    if game.chance is None:
        raise RulesError(f"OpenSpiel needs a game's chance module (GameSpec.chance), and {game.title} has none.")
    return game.chance


def register() -> None:
    """Registers every game that has a chance module with OpenSpiel, once."""
    for name in game_names():
        game = get_game(name)
        if game.chance is None or game_name(game) in pyspiel.registered_names():
            continue
        made = type(f"{game.title.replace(' ', '')}Game", (TableGame,), {"spec": game, "__doc__": TableGame.__doc__})
        pyspiel.register_game(game_type(game.setup(game.default_preset, game.default_players), net=False), made)


register()
