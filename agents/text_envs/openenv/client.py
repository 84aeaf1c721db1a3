"""``TextEnv``: OpenEnv's client of the environment."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from .models import TextAction, TextObservation, TextState


class TextEnv(EnvClient):  # type: ignore[misc]
    """A session on a server, over a WebSocket; ``TextEnv(base_url=...).sync()`` is for code without ``await``.

    What the server refuses raises ``RuntimeError`` with its sentence, and the session goes on.
    """

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload["reward"], payload["done"]
        observation = TextObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done, metadata=observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> TextState:
        return TextState(**payload)
