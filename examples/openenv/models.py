"""What is exchanged with the server."""

from nainjaune_agents.text_envs.openenv.models import TextAction as NainJauneAction
from nainjaune_agents.text_envs.openenv.models import TextObservation as NainJauneObservation

__all__ = ["NainJauneAction", "NainJauneObservation"]
