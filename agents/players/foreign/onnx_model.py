"""ONNX files as players: ``onnx:policy.onnx``, computed by onnxruntime on the CPU, which runs no code of the file's author.

The file has the inputs and outputs of ``networks.onnx_format``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from os.path import isfile  # Path.is_file raises an error for too long a name
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError, MissingLibraryError, NainJauneError, as_sentence, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game

from ..networks.fit import check_fits, other_rules
from ..networks.onnx_format import FLOATS, INPUTS, KEY
from ..networks.policy_agent import PolicyAgent

MAX_BYTES = 1 << 31
"""Of a file: protobuf has no larger messages."""
MAX_UNITS = 1 << 16
"""Of the state of a seat: every seat of every table has one."""


class OnnxAgent(PolicyAgent):
    """Plays by the logits of an ONNX file; plays rollouts where it has no state."""

    def __init__(self, name: str, session: Any, size: int, actions: int) -> None:
        """``session``: an ``onnxruntime.InferenceSession``; ``size``: the bytes of an observation.

        Raises :class:`AgentError` where the file is no policy.
        """
        self._session, self._size, self._actions = session, size, actions
        self._inputs = {given.name: given for given in session.get_inputs()}
        self._outputs = {given.name: given for given in session.get_outputs()}
        super().__init__(name, 0)
        self._check()
        self._row_by_row = any(given.shape[0] == 1 for given in self._inputs.values())  # as exported without a dynamic axis
        self._units = self._inputs["state"].shape[1] if "state" in self._inputs else 0
        self._compute(np.zeros((1, size), np.uint8), None, np.zeros((1, self._units), np.float32))

    def logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        """See :meth:`PolicyAgent.logits`. Raises :class:`AgentError` where one is NaN, or no legal one is finite."""
        mask = decisions.mask
        logits = self._compute(decisions.observation, mask, decisions.state if self._units else None)
        best = np.where(mask, logits, -np.inf).max(axis=1, initial=-np.inf)
        if not np.isfinite(best).all():
            row = int(np.isfinite(best).argmin())
            at = f"at table {int(decisions.index[row])}"
            raise AgentError(f"The best logit of {quoted(self.name)} {at} is {best[row]}: no action can be chosen by it.")
        return logits

    def scorer(self) -> OnnxScorer:
        """Returns the logits for rollouts; raises ValueError where the policy has memory."""
        self.check_scorer()
        return OnnxScorer(self)

    def _compute(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_] | None, state: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``; overwrites ``state (K, units)``. Without a ``mask`` all actions are legal."""
        if not len(observation):
            return np.zeros((0, self._actions), np.float32)
        given: dict[str, NDArray[Any]] = {"observation": observation}
        if self._inputs["observation"].type == "tensor(float)":
            given["observation"] = observation.astype(np.float32)
        if "mask" in self._inputs:
            given["mask"] = np.ones((len(observation), self._actions), np.bool_) if mask is None else mask
        if state is not None and self._units:
            given["state"] = state
        if self._row_by_row:
            rows = [self._run({name: array[row : row + 1] for name, array in given.items()}) for row in range(len(observation))]
            results = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
        else:
            results = self._run(given)
        if state is not None and self._units:
            state[...] = results[1]
        logits: NDArray[np.float32] = results[0].astype(np.float32, copy=False)
        return logits

    def _run(self, given: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        wanted = {"logits": self._actions, **({"next_state": self._units} if self._units else {})}
        try:
            results: list[NDArray[Any]] = self._session.run([*wanted], given)
        except Exception as error:  # each of onnxruntime's is a class of its own
            raise AgentError(f"{quoted(self.name)} cannot be computed: {_first_line(error)}") from None
        for (name, size), result in zip(wanted.items(), results, strict=True):
            if result.shape != (len(given["observation"]), size):
                expected = (len(given["observation"]), size)
                raise AgentError(
                    f"The output {name!r} of {quoted(self.name)} has the shape {result.shape}, and not {expected}: "
                    "a row for each decision."
                )
        return results

    def _check(self) -> None:
        """Raises :class:`AgentError` for inputs and outputs with other names, types or shapes than those of the module."""
        where = quoted(self.name)
        for given, needed, possible in ((self._inputs, "observation", INPUTS), (self._outputs, "logits", self._outputs)):
            if needed not in given or not given.keys() <= possible.keys():
                raise AgentError(f"{where} has {quoted([*given])}, and not {needed!r} among {', '.join(possible)}.")
        if ("state" in self._inputs) != ("next_state" in self._outputs):
            raise AgentError(f"{where} has only one of the input 'state' and the output 'next_state', which belong together.")
        columns = {"observation": self._size, "mask": self._actions, "logits": self._actions}
        results = [self._outputs[name] for name in ("logits", "next_state") if name in self._outputs]
        for one in (*self._inputs.values(), *results):
            types, width = INPUTS.get(one.name, FLOATS), columns.get(one.name)
            wrong = not fits(one.shape, width) or (one.name in INPUTS and not one.shape)
            if wrong or one.type not in types or (one.name == "state" and one.shape[1] not in range(1, MAX_UNITS + 1)):
                expected = f"a {' or a '.join(types)} of the shape (decisions, {width or f'1 to {MAX_UNITS:,} units'})"
                raise AgentError(f"{one.name!r} of {where} is a {one.type} of the shape {quoted(one.shape)}, and not {expected}.")


class OnnxScorer:
    """The logits of a player for rollouts, all actions unmasked."""

    def __init__(self, agent: OnnxAgent) -> None:
        self._agent = agent

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)`` for ``observation (K, size)``; raises :class:`AgentError` for NaN."""
        logits = self._agent._compute(observation, None, None)
        if np.isnan(logits).any():
            raise AgentError(f"A logit of {quoted(self._agent.name)} is NaN in a rollout: no action can be chosen by it.")
        return logits


@dataclass
class Trained:
    """What the metadata of our own files say about their tables, see ``networks.fit.Trained``."""

    game: str
    players: int
    layout: str
    actions: int
    setup: Setup
    common: bool = False


def fits(shape: list[int | str | None], width: int | None) -> bool:
    """Returns whether an array of such a ``shape`` may have a row for each decision, of ``width`` numbers; None: of any.

    An axis that is no number is known when the array has been computed, and so is the shape of an output that has none.
    """
    if len(shape) != 2:
        return not shape
    rows, columns = shape
    return (rows == 1 or not isinstance(rows, int)) and (width is None or columns == width or not isinstance(columns, int))


def load(name: str, setup: Setup) -> OnnxAgent:
    """Returns the player in the ONNX file that is called ``name``, for tables with ``setup``.

    Raises :class:`AgentError` for a file that is none, or that plays at other tables, and :class:`MissingLibraryError`.
    """
    path = files(name)[0]
    if not isfile(path):
        raise AgentError(f"There is no file at {quoted(str(path))}, which the player {quoted(name)} names.")
    if path.stat().st_size > MAX_BYTES:
        raise AgentError(f"{quoted(name)} has {path.stat().st_size:,} bytes; an ONNX file has at most {MAX_BYTES:,}.")
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise MissingLibraryError(f"The player {quoted(name)}", str(error.name), "onnx") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    options.use_deterministic_compute = True
    # weights in another file are not read: else it would be looked for in the working directory, and no run would compare it
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
    options.log_severity_level = 4  # errors come as exceptions, and are not written to stderr too
    try:
        session = onnxruntime.InferenceSession(
            path.read_bytes(), options, providers=["CPUExecutionProvider"], enable_fallback=False
        )
        metadata = session.get_modelmeta().custom_metadata_map
    except Exception as error:  # each of onnxruntime's is a class of its own
        raise AgentError(f"{quoted(name)} is no ONNX file that onnxruntime can load: {_first_line(error)}") from None
    _check_tables(metadata, quoted(name), setup)
    return OnnxAgent(name, session, setup.layout.size, len(setup.game.actions))


def files(name: str) -> list[Path]:
    """Returns the file of the player called ``name``."""
    return [Path(name.removeprefix("onnx:"))]


def _check_tables(metadata: dict[str, str], where: str, setup: Setup) -> None:
    """Raises :class:`AgentError` for a file of ours for another game, layout or rules than those of ``setup``."""
    if KEY not in metadata:
        return
    try:
        # Python converts no long numbers, and advises to change its settings
        about = json.loads(metadata[KEY], parse_int=lambda digits: int(digits) if len(digits) < 20 else digits)
        table = get_game(about["game"]).setup(about["preset"], about["players"], **about["rules"])
        trained = Trained(about["game"], table.players, str(about["layout"]["fingerprint"]), len(about["actions"]), table)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise AgentError(f"The metadata {KEY!r} of {where} do not say for which tables it is: {as_sentence(error)}") from None
    try:
        check_fits(trained, setup, where)
    except NainJauneError as error:
        raise AgentError(str(error)) from None
    if other := other_rules(trained, setup):
        raise AgentError(f"{where} {other} Export it for them, where its network is for all tables.")


def _first_line(error: Exception) -> str:
    """Returns the first line of a message of onnxruntime, with one full stop at its end; of an empty one the kind of error."""
    return f"{(str(error).strip() or type(error).__name__).splitlines()[0].rstrip('.')}."
