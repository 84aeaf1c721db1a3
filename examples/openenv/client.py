"""The client, with what it exchanges: ``AutoEnv`` and ``AutoAction`` look for their classes here."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from .models import NainJauneAction, NainJauneObservation, NainJauneState


class NainJauneEnv(EnvClient):
    """A session on a server, over a WebSocket; ``NainJauneEnv(base_url=...).sync()`` is for code without ``await``.

    What the server refuses raises ``RuntimeError`` with its sentence, and the session goes on.
    """

    def _step_payload(self, action: NainJauneAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload["reward"], payload["done"]
        observation = NainJauneObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done, metadata=observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> NainJauneState:
        return NainJauneState(**payload)
