"""Models of Stable-Baselines3 and sb3-contrib as players: ``sb3:model.zip``, from their weights alone (``sb3_file``).

PPO, A2C, MaskablePPO and DQN with ``MlpPolicy``, RecurrentPPO with ``MlpLstmPolicy``, and MaskablePPO with
``trainers.sb3.NetPolicy``. Illegal actions are masked, whatever the algorithm. The state of an LSTM is 0 when a round begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError, as_sentence, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.envs.spaces import OBSERVATION_DTYPES

from ..nets.arch import ARCHS
from ..nets.inference import NAMES, get_inference
from ..nets.policy_agent import PolicyAgent
from .sb3_file import PYTHON_INSTEAD, SavedModel, read_model
from .sb3_nets import ACTIVATIONS, POLICIES, Policy, build_net

PREFIX = "sb3:"
OUR_POLICY = "nainjaune_agents.trainers.sb3.NetPolicy"
EXTRACTOR = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
"""The text of the feature extractor that changes no vector."""


Compute = Callable[[NDArray[np.uint8], NDArray[np.float32] | None], NDArray[np.float32]]
"""Returns logits ``(K, A)`` for observations ``(K, size)``; overwrites the state ``(K, units)``, which is None without memory."""


class SB3Agent(PolicyAgent):
    """Plays by the logits of a model of Stable-Baselines3, or by its action values; plays rollouts where it has no memory."""

    def __init__(self, name: str, compute: Compute, units: int) -> None:
        super().__init__(name, units)
        self._compute = compute

    def logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        """See :meth:`PolicyAgent.logits`."""
        return self._compute(decisions.observation, decisions.state if self._units else None)

    def scorer(self) -> SB3Scorer:
        """Returns the logits for rollouts; raises ValueError where the policy has memory."""
        self.check_scorer()
        return SB3Scorer(self._compute)


class SB3Scorer:
    """The logits of a model without memory."""

    def __init__(self, compute: Compute) -> None:
        self._compute = compute

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``, not masked, for ``observation (K, size)``."""
        return self._compute(observation, None)


def load(name: str, setup: Setup) -> SB3Agent:
    """Returns the player in the zip file that is called ``name``, for tables with ``setup``.

    Raises :class:`AgentError` for a file that is none, a policy that only its own code knows, and a model of other tables, and
    :class:`~nainjaune_env.core.errors.MissingLibraryError` without torch.
    """
    where = quoted(name)
    model = read_model(files(name)[0], where)
    _check_observation(model, setup, where)
    policy = POLICIES.get(model.policy)
    if (policy is None and model.policy != OUR_POLICY) or model.arguments.get("features_extractor_class", EXTRACTOR) != EXTRACTOR:
        raise AgentError(
            f"{where} has a policy of the class {quoted(model.policy)}, or a feature extractor, whose network only its own code "
            f"knows: MlpPolicy and MlpLstmPolicy are read. {PYTHON_INSTEAD}"
        )
    try:
        return _ours(name, model, setup) if policy is None else _theirs(name, model, policy, setup)
    except (ValueError, KeyError, TypeError) as error:
        raise AgentError(
            f"The weights in {where} are not those of a network that is known here: {as_sentence(error)} {PYTHON_INSTEAD}"
        ) from None


def files(name: str) -> list[Path]:
    """Returns the file of the player called ``name``."""
    return [Path(name.removeprefix(PREFIX))]


def _theirs(name: str, model: SavedModel, policy: Policy, setup: Setup) -> SB3Agent:
    """Returns the player with a network of Stable-Baselines3; raises what :func:`load` turns into a sentence."""
    given = model.arguments.get("activation_fn")
    written = re.fullmatch(r"<class 'torch\.nn\.modules\.activation\.(\w+)'>", str(given))
    activation = policy.activation if given is None else written[1] if written else ""
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation function is {quoted(given)}, and not one of {', '.join(ACTIVATIONS)}")
    net = build_net(model.weights, policy, activation)
    if (net.inputs, net.outputs) != (expected := (setup.layout.size, len(setup.game.actions))):
        raise ValueError(f"its inputs and outputs are {net.inputs} and {net.outputs}, and here there are {expected}")
    return SB3Agent(name, net, net.state_units)


def _ours(name: str, model: SavedModel, setup: Setup) -> SB3Agent:
    """Returns the player with a network of ours, as its policy was; raises what :func:`load` turns into a sentence."""
    arch = model.arguments.get("arch")
    if not isinstance(arch, dict) or arch.get("name") not in NAMES:
        raise ValueError(f"the arch is {quoted(arch)}, and not {' or '.join(NAMES)}")
    weights = {key.removeprefix("net."): weight for key, weight in model.weights.items() if key.startswith("net.")}
    net = get_inference(arch["name"])(ARCHS.build(arch), weights, setup.layout, len(setup.game.actions))
    return SB3Agent(name, lambda observation, state: net.evaluate(observation, state)[0], net.recurrent)


def _check_observation(model: SavedModel, setup: Setup, where: str) -> None:
    """Raises :class:`AgentError` where the model was trained on other observations than those of ``setup``, as far as it says."""
    layout, space = setup.layout, model.observation
    dtype, shape = str(space.get("dtype")), space.get("_shape")
    changed = f"a wrapper changed them in training, or it is for other tables. {PYTHON_INSTEAD}"
    if dtype not in OBSERVATION_DTYPES or shape != [layout.size]:
        raise AgentError(
            f"{where} observes {quoted(dtype)} of the shape {quoted(shape)}, and a table's observations are "
            f"{' or '.join(OBSERVATION_DTYPES)} of the shape {[layout.size]}: {changed}"
        )
    if [*map(_numbers, (space.get("low"), space.get("high")))] != [[0] * layout.size, layout.high.tolist()]:
        raise AgentError(f"{where} observes {layout.size} bytes with other bounds than here: {changed}")
    if model.seen is not None:
        high = np.resize(layout.high, model.seen.size)  # of one environment after the other
        wrong = ~((model.seen >= 0) & (model.seen <= high) & (np.floor(model.seen) == model.seen))
        if wrong.any():
            raise AgentError(
                f"{where} observed {model.seen[wrong][0]:.3g} in training, and a table's observations are whole numbers from 0 "
                f"to {layout.high.max()}: a wrapper such as VecNormalize changed them, and the file has no statistics of it. "
                f"{PYTHON_INSTEAD}"
            )


def _numbers(text: object) -> list[float] | None:
    """Returns the numbers in the text of an array; None if it is none, or was cut short."""
    try:
        return [float(word) for word in str(text).strip("[]").split()]
    except ValueError:
        return None
