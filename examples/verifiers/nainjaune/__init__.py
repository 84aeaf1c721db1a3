"""The environment of nainjaune-env under the name that verifiers looks for: ``vf-eval nainjaune``."""

from nainjaune_agents.text_envs.verifiers import ChatHarness, RoundEnv, RoundTaskset

__all__ = ["ChatHarness", "RoundEnv", "RoundTaskset"]
