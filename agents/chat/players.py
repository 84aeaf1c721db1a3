"""Language models by name: ``chat:MODEL``."""

from __future__ import annotations

from pathlib import Path

from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.text.seat import TextSeat

from ..bots.settings import BotSettings
from .agent import ChatAgent
from .conversation import Conversations
from .endpoint import Endpoint
from .settings import ChatSettings
from .store import AnswerStore


def load(name: str, setup: Setup, settings: BotSettings) -> ChatAgent:
    """Returns the language model called ``name``; nothing is asked before its first decision.

    Raises :class:`AgentError` for a base URL that is none, and without the key that the endpoint needs.
    """
    model = name.partition(":")[2]
    if not model or not model.isprintable():
        raise AgentError(f"After 'chat:' comes the name of a model, as its endpoint calls it, not {quoted(model)}.")
    chat = settings.chat or ChatSettings()
    seat = TextSeat(setup, language=chat.language, form=chat.form)
    endpoint = Endpoint(chat.base_url, model)
    return ChatAgent(name, seat, settings, chat.at_once, Conversations(endpoint, chat, AnswerStore(chat.cache)))


def files(name: str) -> list[Path]:
    """Returns no files: the model is where its endpoint is."""
    return []
