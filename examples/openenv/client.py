"""The client, and what it exchanges: ``AutoEnv`` and ``AutoAction`` look for them here."""

from nainjaune_agents.text_envs.openenv.client import TextEnv as NainJauneEnv

from .models import NainJauneAction, NainJauneObservation

__all__ = ["NainJauneAction", "NainJauneEnv", "NainJauneObservation"]
