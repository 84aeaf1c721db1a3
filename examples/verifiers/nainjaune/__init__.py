"""The environment of nainjaune-env for verifiers: rounds are tasks, and what they were worth is the reward."""

from .env import RoundEnv
from .harness import ChatHarness
from .taskset import RoundTaskset

__all__ = ["ChatHarness", "RoundEnv", "RoundTaskset"]
