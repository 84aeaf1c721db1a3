"""What :func:`~nainjaune_env.envs.leak_check.check_no_leak` plays and compares: positions of an environment and seats' views."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.agent_adapters import binds
from nainjaune_env.core.errors import GameError, as_sentence, quoted

Redeal = Callable[[Any, Any, np.random.Generator], Any]
"""Takes a position, a seat and a generator."""
Picture = Callable[[Any, Any], Any]
"""Takes a position and a seat."""
View = dict[str, Any]
"""By channel: what it shows a seat."""

AEC_METHODS = ("reset", "observe", "step", "action_space")
SHOWN = 20
"""Characters of a text that a message shows from the first difference on."""
TENSORS = ("observation_tensor", "information_state_tensor")
STRINGS = ("observation_string", "information_state_string")


class AecViews:
    """An AEC environment; a position is the environment itself, which play changes, or a copy of it."""

    def __init__(self, env: Any, redeal: Redeal | None, picture: Picture | None) -> None:
        if missing := [name for name in AEC_METHODS if not callable(getattr(env, name, None))]:
            raise GameError(
                f"Expected a PettingZoo AEC environment or an OpenSpiel game, not {quoted(env)}, without {missing[0]}()."
            )
        if redeal is None:
            raise GameError("An AEC environment needs `redeal`, which deals again what an agent does not know; None came.")
        if not binds(env.reset, seed=0):
            raise GameError(f"reset(seed=...) is expected of the environment, not reset{inspect.signature(env.reset)}.")
        _check_functions(redeal, picture)
        self.env, self.redeal, self.picture = env, redeal, picture

    def decisions(self, seed: int, rng: np.random.Generator) -> Iterator[tuple[Any, list[Any]]]:
        """Plays an episode of random legal actions; yields the position before each and the agents in play."""
        env = self.env
        env.reset(seed=seed)
        for agent in env.agents:
            env.action_space(agent).seed(seed)
        while env.agents:
            agent = env.agent_selection
            in_play = [one for one in env.agents if not env.terminations[one] and not env.truncations[one]]
            if agent not in in_play:
                env.step(None)
                continue
            yield env, in_play
            seen = env.observe(agent)
            in_seen = isinstance(seen, Mapping) and "action_mask" in seen
            mask = seen["action_mask"] if in_seen else env.infos.get(agent, {}).get("action_mask")
            if mask is None:
                env.step(env.action_space(agent).sample())
                continue
            legal = np.flatnonzero(mask)
            if not legal.size:
                raise GameError(
                    f"The mask of the agent at turn is expected to show a legal action, and that of {agent} shows none."
                )
            env.step(int(rng.choice(legal)))

    def view(self, env: Any, agent: Any, without: set[str] | frozenset[str] = frozenset()) -> View:
        """Returns what ``agent`` is shown; a picture only if it is not in ``without``."""
        view: View = {"observation": env.observe(agent)}
        if isinstance(view["observation"], Mapping) and "action_mask" in view["observation"]:
            rest = dict(view["observation"])
            view["mask"] = rest.pop("action_mask")
            view["observation"] = rest["observation"] if rest.keys() == {"observation"} else rest
        infos = env.infos.get(agent, {})
        view["infos"] = sorted(map(str, infos))
        view |= {f"infos[{key!r}]": value for key, value in infos.items()}
        if self.picture is not None and "picture" not in without:
            view["picture"] = self.picture(env, agent)
        return view

    def copied(self, env: Any) -> Any:
        """Returns a deep copy; raises :class:`GameError` where there is none."""
        raw = getattr(env, "unwrapped", env)
        copies: dict[int, Any] = {}
        try:
            if hasattr(raw, "_ezpickle_args") and not hasattr(raw, "__deepcopy__"):
                # Gymnasium's EzPickle would make the environment anew from the arguments of its constructor
                copies[id(raw)] = twin = object.__new__(type(raw))
                vars(twin).update(copy.deepcopy(vars(raw), copies))
            return copy.deepcopy(env, copies)
        except Exception as error:
            raise GameError(f"copy.deepcopy is expected to copy the environment, and raises: {as_sentence(error)}") from error

    def dealt_again(self, env: Any, agent: Any, rng: np.random.Generator) -> Any:
        """Returns a copy in which what ``agent`` does not know is dealt again."""
        twin = self.copied(env)
        result = self.redeal(twin, agent, rng)
        if result is not None and not hasattr(result, "observe"):
            raise GameError(
                f"`redeal` is expected to return an environment, or None where it changed its own, not {quoted(result)}."
            )
        return twin if result is None else result

    def named(self, agent: Any) -> str:
        """Returns the agent's name for messages."""
        return str(agent)


class GameViews:
    """An OpenSpiel game; a position is a state."""

    def __init__(self, game: Any, redeal: Redeal | None, picture: Picture | None) -> None:
        about = game.get_type()
        _check_functions(redeal, picture)
        self.game, self.redeal, self.picture = game, redeal, picture
        self.channels = [name for name in (*TENSORS, *STRINGS) if getattr(about, f"provides_{name}")]

    def decisions(self, seed: int, rng: np.random.Generator) -> Iterator[tuple[Any, Sequence[int]]]:
        """Plays an episode of random legal actions; yields the state before each, no chance node, and the players."""
        state = self.game.new_initial_state()
        players = range(self.game.num_players())
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=np.array(weights) / sum(weights))))
                continue
            yield state, players
            if state.is_simultaneous_node():
                # OpenSpiel takes 0 for a player without an action
                state.apply_actions([int(rng.choice(state.legal_actions(player) or [0])) for player in players])
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))

    def view(self, state: Any, player: int, without: set[str] | frozenset[str] = frozenset()) -> View:
        """Returns what ``player`` is shown in the channels that are not in ``without``."""
        view: View = {name: getattr(state, name)(player) for name in self.channels if name not in without}
        view |= {name: np.asarray(view[name]) for name in TENSORS if name in view}
        if state.is_simultaneous_node() or state.current_player() == player:
            view["legal_actions"] = state.legal_actions(player)
        if self.picture is not None and "picture" not in without:
            view["picture"] = self.picture(state, player)
        return view

    def copied(self, state: Any) -> Any:
        """Returns the state's clone."""
        return state.clone()

    def dealt_again(self, state: Any, player: int, rng: np.random.Generator) -> Any:
        """Returns a state in which what ``player`` does not know is dealt again; raises :class:`GameError` if it cannot be."""
        if self.redeal is not None:
            twin = state.clone()
            result = self.redeal(twin, player, rng)
            return twin if result is None else result
        try:
            return state.resample_from_infostate(player, rng.random)
        except Exception as error:
            raise GameError(
                f"A state is expected to have resample_from_infostate, or `redeal` to be given; it raises: {as_sentence(error)}"
            ) from error

    def named(self, player: int) -> str:
        """Returns the player's name for messages."""
        return f"player {player}"


def _check_functions(redeal: Redeal | None, picture: Picture | None) -> None:
    """Raises :class:`GameError` for functions that take something else."""
    for name, function, takes in (("redeal", redeal, "position, seat, rng"), ("picture", picture, "position, seat")):
        if function is not None and not (callable(function) and binds(function, *takes.split(", "))):
            raise GameError(f"`{name}` is expected to be a function ({takes}), not {quoted(function)}.")


def differences(before: View, after: View) -> dict[str, str]:
    """Returns by channel where two views differ first, and what they hold there."""
    changes = {channel: difference(value, after.get(channel, "nothing")) for channel, value in before.items()}
    changes |= {channel: difference("nothing", value) for channel, value in after.items() if channel not in before}
    return {channel: where for channel, where in changes.items() if where}


def difference(one: Any, two: Any, where: str = "") -> str:
    """Returns where two values differ first, such as "index 12: 0 and after dealing again 1"; "" where they are alike."""
    one, two = (np.asarray(value) if hasattr(value, "__array__") else value for value in (one, two))
    if _same_bytes(one, two):  # most are, and a picture has too many numbers to compare them one by one
        return ""
    if isinstance(one, str) and isinstance(two, str) and one != two:
        start = next((at for at, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two)))
        return _changed(f"{where}character {start}: ", one[start : start + SHOWN], two[start : start + SHOWN])
    first, second = _parts(one), _parts(two)
    if first is None and second is None:
        alike = one == two or (one != one and two != two)  # NaN is alike
        return "" if alike else _changed(where, one, two)
    if first is None or second is None or first.keys() != second.keys():
        return _changed(where, one, two)
    return next(filter(None, (difference(part, second[name], f"{where}{name}: ") for name, part in first.items())), "")


def _same_bytes(one: Any, two: Any) -> bool:
    arrays = isinstance(one, np.ndarray) and isinstance(two, np.ndarray)
    return arrays and one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def _parts(value: Any) -> dict[str, Any] | None:
    """Returns the values in a mapping, a sequence or an array, by what leads to them; None of anything else."""
    if isinstance(value, Mapping):
        return {f"key {key!r}": part for key, part in value.items()}
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return {f"index {index}": part for index, part in enumerate(value)}
    return None


def _changed(where: str, one: Any, two: Any) -> str:
    plain = (value.tolist() if isinstance(value, np.ndarray) else value for value in (one, two))
    return f"{where}{' and after dealing again '.join(map(quoted, plain))}"
