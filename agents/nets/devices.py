"""Where networks compute: by name, and only where there is such a device."""

from __future__ import annotations

import torch

from nainjaune_env.core.errors import DeviceError, choose_one

DEVICES = ("cpu", "cuda")
"""By their names in torch."""


def check_device(name: str) -> str:
    """``name``, one of :data:`DEVICES`; raises :class:`DeviceError` where it is none of them, or torch can use no such device."""
    if name not in DEVICES:
        raise DeviceError(choose_one("device", name, DEVICES))
    if name == "cuda" and not torch.cuda.is_available():
        built = "was built without CUDA" if torch.version.cuda is None else "finds no NVIDIA GPU that it can use"
        raise DeviceError(f"device='cuda' takes an NVIDIA GPU and a torch built for it; torch {torch.__version__} here {built}.")
    return name
