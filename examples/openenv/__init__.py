"""Nain Jaune for OpenEnv, under the names that its ``AutoEnv`` looks for."""

from .client import NainJauneEnv
from .models import NainJauneAction, NainJauneObservation

__all__ = ["NainJauneAction", "NainJauneEnv", "NainJauneObservation"]
