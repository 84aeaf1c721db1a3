"""Language models by name: ``chat:MODEL``."""

from __future__ import annotations

from pathlib import Path

from nainjaune_env.core.spec import Setup

from ..program.settings import BotSettings
from .agent import ChatAgent


def load(name: str, setup: Setup, settings: BotSettings) -> ChatAgent:
    """Returns the language model called ``name``; raises what :class:`ChatAgent` does."""
    return ChatAgent(name, setup, settings)


def files(name: str) -> list[Path]:
    """Returns no files: the model is where its endpoint is."""
    return []
