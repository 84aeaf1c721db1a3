"""The environment of the library ``verifiers`` (``verifiers.v1``): rounds are tasks, and what they were worth is the reward."""

from __future__ import annotations

from nainjaune_env.core.errors import MissingLibraryError

try:
    from .env import RoundEnv
    from .harness import ChatHarness
    from .taskset import RoundTaskset
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] not in ("verifiers", "openai", "pydantic"):
        raise
    raise MissingLibraryError("The environment of verifiers", "verifiers", "verifiers") from error

__all__ = ["ChatHarness", "RoundEnv", "RoundTaskset"]
