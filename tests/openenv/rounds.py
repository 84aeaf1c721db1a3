"""Rounds through OpenEnv's client, and the same rounds without it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from nain_jaune_env.client import NainJauneEnv
from nain_jaune_env.models import NainJauneAction, NainJauneState
from openai import AsyncOpenAI
from openenv.core.client_types import StepResult

from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import TextTask

Model = Callable[[list[dict[str, str]]], Awaitable[str]]


@asynccontextmanager
async def model_at(address: str, name: str) -> AsyncIterator[Model]:
    """The model of an endpoint, asked by the ``openai`` client."""
    async with AsyncOpenAI(base_url=address, api_key="none") as client:

        async def model(messages: list[dict[str, str]]) -> str:
            completion = await client.chat.completions.create(model=name, messages=messages)  # type: ignore[arg-type]
            return completion.choices[0].message.content or ""

        yield model


async def play(env: NainJauneEnv, model: Model, **reset: Any) -> tuple[StepResult, NainJauneState]:
    """Plays a round to its end."""
    result = await env.reset(**reset)
    while not result.done:
        assert (result.reward, result.metadata) == (0.0, {})
        result = await env.step(NainJauneAction(text=await model(result.observation.messages)))
    return result, await env.state()


def again(task: TextTask, settings: TextEnvSettings, texts: Iterable[str]) -> TextRound:
    """The round of the core with these answers."""
    played = TextRound(task, settings)
    for text in texts:
        played.answer(text)
    return played
