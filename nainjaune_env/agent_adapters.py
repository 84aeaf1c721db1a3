"""Players of every kind as agents: agents, classes and factories, functions, models with ``predict``, torch modules, names."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng, StochasticPolicy, find_agent, needs_history
from nainjaune_env.core.bits import are_legal
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.illegal import why_illegal
from nainjaune_env.core.kept_generators import kept_generators
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.validation import as_array, check_flag, whole
from nainjaune_env.engine.batch import Batch

Choose = Callable[[NDArray[np.uint8], NDArray[np.bool_]], Any]
"""Takes an observation ``(size,) uint8`` and its mask ``(A,) bool`` and returns a legal action; or K of them, ``(K, size)`` and
``(K, A)``, and returns K legal actions."""


@runtime_checkable
class Model(Protocol):
    """A model of Stable-Baselines3 or sb3-contrib, trained on the observations of these tables."""

    def predict(self, observation: Any, *, deterministic: bool) -> tuple[Any, Any]:
        """Returns the actions for observations ``(K, size)``, and recurrent states, which are ignored."""


Player = str | Agent | Model | Choose | Callable[..., Any]
"""What :func:`as_agent` takes."""
TOLERANCE = 1e-3
"""How far from 1 the probabilities of a decision may sum: players may compute them in half precision."""
KINDS = (
    "the name of an agent, an agent, a class or a function that makes one, a function of observation and mask, "
    "a model with predict(), or a torch module"
)


class FunctionAgent:
    """A function as an agent; equal seeds give equal games only if it draws nothing at random."""

    def __init__(self, choose: Choose, name: str | None = None, *, batched: bool = True) -> None:
        """``batched``: whether the function takes K decisions at once. ``name`` None: that of the function."""
        self.choose = choose
        self.batched = batched
        self.name = str(getattr(choose, "__name__", type(choose).__name__)) if name is None else name

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[Any]:
        """Returns the function's actions; raises :class:`AgentError` for an answer that is no whole number."""
        if self.batched:
            refusal = f"The function {self.name!r} was asked for one action a decision, and gave"
            return as_array(refusal, self.choose(decisions.observation, decisions.mask), AgentError)
        rows = zip(decisions.observation, decisions.mask, strict=True)
        return np.array([self._one(observation, mask) for observation, mask in rows], np.int64)

    def _one(self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> int:
        answer = self.choose(observation, mask)
        action = whole(answer)
        if action is None:
            raise AgentError(f"The function {self.name!r} was asked for one action, a whole number, and gave {quoted(answer)}.")
        return action


class ModelAgent:
    """A model as an agent, which plays its likeliest action: a legal one if its ``predict`` takes ``action_masks``.

    A model in a ``VecNormalize`` of Stable-Baselines3 is given observations as that changes them.
    """

    def __init__(self, model: Model, name: str | None = None) -> None:
        """The agent is called ``name``; None: as the model's class.

        Raises :class:`AgentError` for a model that was trained in a ``VecNormalize`` and is without it.
        """
        self.model = model
        self.name = type(model).__name__ if name is None else name
        self._takes_masks = "action_masks" in inspect.signature(model.predict).parameters
        original: Any = getattr(model, "_last_original_obs", None)
        seen: Any = getattr(model, "_last_obs", None)
        if self._normalizing() is None and original is not None and not np.array_equal(original, seen):
            raise AgentError(
                f"The model {self.name!r} observed through a VecNormalize in training, and is without it here: give it an "
                "environment with its statistics, VecNormalize.load(file, env), by set_env."
            )

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[Any]:
        """Returns the model's actions; raises :class:`AgentError` where it returns none."""
        return self.actions(decisions.observation, decisions.mask)

    def actions(self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Returns the actions for observations ``(K, size)`` and masks ``(K, A)``; raises as :meth:`act`."""
        normalizing = self._normalizing()
        seen = observation if normalizing is None else normalizing.normalize_obs(observation)
        answer = self.model.predict(seen, deterministic=True, **self.masks(mask))
        actions = np.asarray(answer[0]) if isinstance(answer, tuple) and answer else None
        if actions is None or actions.shape != (len(observation),) or actions.dtype.kind not in "iu":
            raise AgentError(
                f"The model {self.name!r} was asked for {len(observation)} actions, whole numbers, and its state, a tuple, and "
                f"gave {quoted(answer)}."
            )
        return actions

    def _normalizing(self) -> Any:
        return getattr(self.model, "get_vec_normalize_env", lambda: None)()

    def masks(self, mask: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Returns ``mask`` as the keyword of ``predict``, where it takes it."""
        return {"action_masks": mask} if self._takes_masks else {}


class TorchAgent:
    """A torch module as an agent, which plays the legal action with the largest logit or, if ``stochastic``, draws.

    ``forward`` takes observations ``(K, size)``, of float32 or of the dtype that the module declares as ``observation_dtype``,
    and returns logits ``(K, A)``, or a tuple that begins with them. It is called in evaluation mode, without gradients, on the
    device of the module's parameters.
    """

    def __init__(self, module: Any, num_actions: int, name: str | None = None, *, stochastic: bool = False) -> None:
        """The agent is called ``name``; None: as the module's class."""
        self.module = module
        self.num_actions = num_actions
        self.name = type(module).__name__ if name is None else name
        self.stochastic = stochastic

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, ``(K,)``."""
        if self.stochastic:
            return drawn(self.probabilities(decisions), rng)
        best: NDArray[np.int64] = self._legal_logits(decisions).argmax(axis=1)
        return best

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the policy, shape ``(K, A)``: one-hot at the likeliest action where the agent does not sample."""
        logits = self._legal_logits(decisions)
        if not self.stochastic:
            likeliest: NDArray[np.float64] = np.eye(self.num_actions)[logits.argmax(axis=1)]
            return likeliest
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def scorer(self) -> TorchAgent:
        """Returns what gives logits from observations, for searches."""
        return self

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns the logits ``(K, A)`` of all actions for ``observation (K, size)``.

        Raises :class:`AgentError` for an output of another shape.
        """
        torch: Any = sys.modules["torch"]
        parameter = next(iter(self.module.parameters()), None)
        device = None if parameter is None else parameter.device
        dtype = getattr(self.module, "observation_dtype", torch.float32)
        training = [part for part in self.module.modules() if part.training]
        self.module.eval()
        try:
            with torch.inference_mode():
                output = self.module(torch.tensor(observation, dtype=dtype, device=device))
        finally:
            for part in training:
                part.training = True
        first = output[0] if isinstance(output, tuple) else output
        expected = (len(observation), self.num_actions)
        if not isinstance(first, torch.Tensor) or tuple(first.shape) != expected:
            came = f"shape {tuple(first.shape)}" if isinstance(first, torch.Tensor) else quoted(first)
            raise AgentError(f"The module {self.name!r} was asked for logits, a tensor of shape {expected}, and gave {came}.")
        values: NDArray[np.float32] = first.detach().float().cpu().numpy()
        return values

    def _legal_logits(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        logits = np.where(decisions.mask, self.logits(decisions.observation).astype(np.float64), -np.inf)
        if not np.isfinite(logits[decisions.mask]).all():
            raise AgentError(f"The module {self.name!r} gave logits of legal actions that are NaN or infinite.")
        return logits


class SampledAgent:
    """An agent that draws from the probabilities of another one."""

    def __init__(self, policy: StochasticPolicy, name: str) -> None:
        self.name = name
        self.needs_history = needs_history(policy)
        self.faults = getattr(policy, "faults", None)
        """Those of the other agent, where it is a program."""
        self._policy = policy

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, ``(K,)``."""
        return drawn(self.probabilities(decisions), rng)

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns those of the other agent, ``(K, A)``."""
        return checked_probabilities(self._policy, decisions)

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns that of the other agent, with size 0 if it remembers nothing."""
        return self._policy.state_dtype(setup) if isinstance(self._policy, RecurrentAgent) else np.dtype([])


def checked_probabilities(policy: StochasticPolicy, decisions: DecisionBatch) -> NDArray[Any]:
    """Returns the probabilities ``(K, A)`` that ``policy`` gives; raises :class:`AgentError` for anything else."""
    shape = (len(decisions.index), decisions.num_actions)
    asked = (
        f"The agent {policy.name!r} was asked for probabilities of shape {shape}, not below 0, 0 for illegal actions, with the "
        "sum 1 in each row, and"
    )
    given = policy.probabilities(decisions)
    rows = as_array(f"{asked} gave", given, AgentError)
    if rows.shape != shape or rows.dtype.kind not in "biuf":
        raise AgentError(f"{asked} {_described(given, shape)}.")
    sound = np.where(decisions.mask, rows >= 0, rows == 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= TOLERANCE)
    if not sound.all():
        raise AgentError(f"{asked} gave the row {quoted(rows[sound.argmin()].tolist())}.")
    return rows


def drawn(probabilities: NDArray[np.float64], rng: Rng) -> NDArray[np.int64]:
    """Returns an action for each row of ``probabilities (K, A)``, ``(K,)``, drawn by one uniform number a row."""
    ends = probabilities.cumsum(axis=1)
    below = ends <= (rng.random(len(ends)) * ends[:, -1])[:, None]
    actions: NDArray[np.int64] = below.sum(axis=1)
    return actions


def as_agent(player: object, setup: Setup, name: str | None = None, *, batched: bool | None = None) -> Agent:
    """Returns ``player`` as an agent called ``name`` at tables with ``setup``; None: as it is called itself.

    ``player`` is one of

    - the name of an agent;
    - an agent: an object with ``act(decisions, rng)``;
    - a model with ``predict``, such as Stable-Baselines3's;
    - a torch module: see :class:`TorchAgent`;
    - a function of an observation ``(size,) uint8`` and a mask ``(A,) bool`` that returns a legal action, or of K of them,
      ``(K, size)`` and ``(K, A)``, that returns K. Which of them it is, ``batched`` says; None: it is tried at a few positions,
      without moving global random generators, nor those that it refers to itself;
    - a class, or a function with one argument, or with ``setup`` as the first one, or with none, that makes one of these from the
      setup.

    An agent with a new name is a copy. Raises :class:`AgentError` for anything else, and where a function or a module does not
    answer as it should; :class:`RulesError` for another ``setup`` or ``batched``.
    """
    check_setup(setup)
    if name is not None:
        _check_agent_name(name)
    if batched is not None:
        check_flag("batched", batched)
    if isinstance(player, str):
        return named(find_agent(player, setup), name)
    if isinstance(player, type) or (not _is_player(player) and callable(player) and _is_factory(player)):
        made = _made(player, setup)
        if not (isinstance(made, str) or callable(made) or _is_player(made)):
            raise AgentError(f"{_title(player)} was called to make a player, and gave {quoted(made)}: a player is {KINDS}.")
        if isinstance(made, type) or (callable(made) and not _is_player(made) and _is_factory(made)):
            raise AgentError(f"{_title(player)} made {quoted(made)}, and a player is {KINDS}.")
        return as_agent(made, setup, name, batched=batched)
    if callable(getattr(player, "act", None)):
        return named(player, name)
    if isinstance(player, Model):
        model = ModelAgent(player, name)
        if binds(player.predict, None, deterministic=True, **model.masks(None)):
            _try_out("model", model.name, player, setup, model.actions)
            return model
    if isinstance(player, Model) and not _is_module(player):
        raise AgentError(f"A model as a player has predict(observation, deterministic=…), unlike that of {quoted(player)}.")
    if _is_module(player):
        module = TorchAgent(player, len(setup.game.actions), name)
        _try_out("module", module.name, player, setup, lambda observation, _: module.logits(observation))
        return module
    if callable(player):
        if not binds(player, None, None):
            raise AgentError(f"A function as a player takes the observation and the mask, and {_title(player)} takes others.")
        function = FunctionAgent(player, name)
        function.batched = _is_batched(function, setup) if batched is None else batched
        return function
    raise AgentError(f"A player is {KINDS}, not {quoted(player)}.")


def named(player: Any, name: str | None) -> Agent:
    """Returns an object with ``act`` as an agent called ``name``: itself if that is its name already, or else a copy.

    ``name`` None: it keeps its name, or has that of its class.
    """
    own = getattr(player, "name", None)
    name = (type(player).__name__ if own is None else own) if name is None else name
    _check_agent_name(name)
    if own == name:
        agent: Agent = player
        return agent
    renamed: Agent = copy.copy(player)
    try:
        renamed.name = name
    except AttributeError:
        raise AgentError(f"An agent has a name that can be set, and that of {quoted(player)} cannot.") from None
    return renamed


def _check_agent_name(given: object) -> None:
    if not isinstance(given, str):
        raise AgentError(f"The name of an agent is a text, not {quoted(given)}.")


def _is_player(player: object) -> bool:
    """Returns whether an object answers decisions itself, by something else than a call."""
    return callable(getattr(player, "act", None)) or isinstance(player, Model) or _is_module(player)


def _is_module(player: object) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(player, torch.nn.Module)


def _title(player: Any) -> str:
    return f"{getattr(player, '__name__', None) or quoted(player)!r}"


def binds(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> bool:
    """Returns whether a function can be called so; some functions written in C do not say."""
    try:
        inspect.signature(function).bind(*arguments, **keywords)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def _is_factory(function: Callable[..., Any]) -> bool:
    """Returns whether a function takes a setup, or nothing, by its signature."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except ValueError:
        return False
    if parameters and parameters[0].name == "setup":
        return binds(function, None)
    return not binds(function, None, None) and (binds(function, None) or binds(function))


def _made(factory: Any, setup: Setup) -> object:
    """Returns what a class or a factory makes, called with the setup if it takes an argument."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except ValueError:
        return factory()
    required = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes = any(p.name == "setup" for p in parameters)
    if not binds(factory) and not binds(factory, setup):
        raise AgentError(
            f"A class or function that makes a player takes the setup or nothing, and {_title(factory)} needs "
            f"{', '.join(p.name for p in required)}."
        )
    if takes:
        return factory(setup=setup)
    return factory(setup) if required else factory()


def _try_out(kind: str, name: str, player: object, setup: Setup, ask: Choose) -> None:
    """Raises :class:`AgentError` where a model or a module does not answer at a few positions as it should."""
    observation, mask, _ = positions(setup)
    with kept_generators(player):
        try:
            ask(observation, mask)
        except AgentError:
            raise
        except Exception as error:  # of another library
            raise AgentError(
                f"The {kind} {name!r} was tried with observations of shape {observation.shape}, and raised "
                f"{quoted(f'{type(error).__name__}: {error}')}."
            ) from error


def positions(setup: Setup) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int64]]:
    """Returns a few different decisions, always the same ones: observations ``(K, size)``, masks ``(K, A)``, legal bits ``(K,)``.

    K is not the number of actions; it is small, and 0 where there is no decision at these tables.
    """
    wanted = 3 if len(setup.game.actions) != 3 else 4
    batch, random_streams = Batch(setup, 8, seed=0), streams(1, 8)
    found: dict[bytes, tuple[NDArray[np.uint8], NDArray[np.bool_], int]] = {}
    for _ in range(8):
        for i in np.flatnonzero(~batch.done):
            observation = batch.observation[i].copy()
            found.setdefault(observation.tobytes(), (observation, batch.mask[i].copy(), int(batch.legal[i])))
        if len(found) >= wanted or batch.done.all():
            break
        batch.step(batch.sample(random_streams))
    rows = [*found.values()][:wanted]
    observations = np.array([row[0] for row in rows], np.uint8).reshape(len(rows), batch.observation.shape[1])
    masks = np.array([row[1] for row in rows], np.bool_).reshape(len(rows), batch.num_actions)
    return observations, masks, np.array([row[2] for row in rows], np.int64)


def _is_batched(agent: FunctionAgent, setup: Setup) -> bool:
    """Returns whether a function takes K decisions at once, as it answers at a few positions."""
    observations, masks, legal = positions(setup)
    count = len(legal)
    say = "as_agent(function, setup, batched=True), or False, says which"
    if count < 2:
        raise AgentError(f"There are not two decisions at these tables to try the function {agent.name!r} at: {say}.")

    def ask(observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> Any:
        with kept_generators(agent.choose):
            try:
                return agent.choose(observation.copy(), mask.copy())
            except Exception as error:  # whatever it raises says that it does not take these
                return _Raised(error)

    answers = ask(observations, masks)
    together = _actions(answers, (count,), legal)
    singles = [ask(*row) for row in zip(observations, masks, strict=True)]
    alone = [_actions(answer, (), bits) for answer, bits in zip(singles, legal, strict=True)]
    if together is not None and all(one is None or one == both for one, both in zip(alone, together, strict=True)):
        return True
    if together is None and all(one is not None for one in alone):
        return False
    if (chosen := _chosen(answers, singles)) is not None and not (legal_now := are_legal(legal, chosen)).all():
        k = int(legal_now.argmin())
        said = why_illegal(int(chosen[k]), int(legal[k]), setup.game.actions, "the decision where it was tried")
        raise AgentError(f"The function {agent.name!r} chose an illegal action. {said}")
    one = next((k for k, action in enumerate(alone) if action is None), 0)
    shapes = f"{observations.shape} and {masks.shape}", f"{observations.shape[1:]} and {masks.shape[1:]}"
    raise AgentError(
        f"The function {agent.name!r} was asked for {count} actions, with arrays of shapes {shapes[0]}, and "
        f"{_described(answers, (count,))}; asked for one, with shapes {shapes[1]}, it {_described(singles[one], ())}. "
        f"Expected legal actions, whole numbers: as many as decisions, or one, and the same both times if it takes both; {say}."
    )


class _Raised:
    """An error that a function raised when it was tried."""

    def __init__(self, error: Exception) -> None:
        self.text = f"{type(error).__name__}: {error}"


def _chosen(together: Any, singles: list[Any]) -> NDArray[np.int64] | None:
    """Returns the actions that a function means, legal or not, asked for all at once or one by one; None if that is not clear."""
    all_at_once = _numbers(together, (len(singles),))
    one_by_one = [_numbers(answer, ()) for answer in singles]
    if all_at_once is None:
        return None if any(one is None for one in one_by_one) else np.array(one_by_one)
    alike = all(one is None or one == both for one, both in zip(one_by_one, all_at_once, strict=True))
    return all_at_once if alike else None


def _actions(answer: Any, shape: tuple[int, ...], legal: Any) -> Any:
    """Returns an answer as whole numbers of this shape; None if it is none, or one is not legal."""
    actions = _numbers(answer, shape)
    return actions if actions is not None and are_legal(np.atleast_1d(legal), np.atleast_1d(actions)).all() else None


def _numbers(answer: Any, shape: tuple[int, ...]) -> Any:
    """Returns an answer as whole numbers of this shape; None if it is none."""
    if isinstance(answer, _Raised):
        return None
    try:
        actions = np.asarray(answer)
    except (TypeError, ValueError):
        return None
    return actions.astype(np.int64) if actions.shape == shape and actions.dtype.kind in "iu" else None


def _described(answer: Any, shape: tuple[int, ...]) -> str:
    """Returns what a function did, after its name or "it"."""
    if isinstance(answer, _Raised):
        return f"raised {quoted(answer.text)}"
    try:
        given = np.asarray(answer)
    except (TypeError, ValueError):
        return f"gave {quoted(answer)}"
    if given.dtype.kind == "O" or (given.shape == shape == ()):
        return f"gave {quoted(answer)}"
    return f"gave {given.dtype}, shape {given.shape}" if given.shape != shape else f"gave {quoted(given.tolist())}"
