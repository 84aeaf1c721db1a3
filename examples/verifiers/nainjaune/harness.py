"""How a model is asked: by one chat completion a turn, with the whole conversation, from the process that plays the round."""

from __future__ import annotations

import ssl
from functools import cache

import verifiers.v1 as vf
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from verifiers.v1.dialects.chat import message_to_wire


class ChatHarnessConfig(vf.HarnessConfig):
    """It has no settings of its own."""


class ChatHarness(vf.Harness[ChatHarnessConfig]):
    """Plain chat without tools.

    The harness ``null`` of verifiers does the same by a program that it starts for each turn.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Asks for one answer to the messages of ``data``; verifiers keeps it in the ``trace``."""
        system_prompt, prompt = self.resolve_prompt(data)
        first = [] if system_prompt is None else [vf.SystemMessage(content=system_prompt)]
        messages = [message_to_wire(message) for message in (*first, *prompt)]
        http = DefaultAsyncHttpxClient(verify=_certificates())
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http) as client:  # it asks a busy endpoint again
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


@cache
def _certificates() -> ssl.SSLContext:
    """Returns what every client reads otherwise, which takes longer than an answer of a small model."""
    return ssl.create_default_context()
