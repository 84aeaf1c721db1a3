"""Networks that play with NumPy and compiled code alone, by name: each is a module with one subclass of ``InferenceNet``.

A module has the name of the arch whose weights it takes (``networks.arch``). An arch without one plays through torch.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .base import InferenceNet

NAMES = ("mlp", "residual")
"""The archs that play without torch."""


def get_inference(name: str) -> type[InferenceNet]:
    """Returns the class of the arch ``name``, one of :data:`NAMES`."""
    cls: type[InferenceNet] = class_of(importlib.import_module(f"{__name__}.{name}"), InferenceNet)
    return cls


def class_of(module: ModuleType, base: type) -> Any:
    """Returns the subclass of ``base`` that ``module`` defines."""
    classes = (value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__)
    return next(cls for cls in classes if issubclass(cls, base))
