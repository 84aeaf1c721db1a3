"""Headers of checkpoints, and configurations of runs, as earlier versions wrote them.

Until version 2 of the format a network was ``arch``, the name, with ``hidden`` and ``recurrent`` beside it, and the optimizer's
keys stood beside the trainer's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nainjaune_env.core.errors import quoted

_ADAM = ("learning_rate", "last_learning_rate", "warmup")


def upgraded_header(about: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Returns the description of a checkpoint of ``version`` in the form of today.

    Raises KeyError, TypeError or ValueError for one that is no such description.
    """
    if version > 1:
        return dict(about)
    if not isinstance(about, dict) or not isinstance(about["config"], dict):
        raise TypeError(f"expected a description with a configuration, not {quoted(about)}")
    others = {key: value for key, value in about.items() if key not in ("arch", "hidden", "recurrent")}
    return {**others, "arch": _arch(about), "config": upgraded_config(about["config"])}


def upgraded_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the resolved configuration of a run in the form of today; every earlier one has the key ``hidden``."""
    if "hidden" not in config:
        return dict(config)
    muon = config.get("muon", 0.0)
    optimizer = {"name": "muon" if muon else "adam", **{key: config[key] for key in _ADAM if key in config}}
    optimizer |= {"matrix_ratio": muon} if muon else {}
    others = {key: value for key, value in config.items() if key not in ("arch", "hidden", "recurrent", "muon", *_ADAM)}
    return {**others, "arch": _arch(config), "optimizer": optimizer}


def version_1_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``config`` with its network and Adam as version 1 had them, where it could have them, for digests that it made."""
    arch, optimizer = dict(config["arch"]), dict(config["optimizer"])
    others = {key: value for key, value in config.items() if key not in ("arch", "optimizer")}
    match arch:
        case {"name": "mlp", "hidden": hidden, "recurrent": 0}:
            others |= {"arch": "mlp", "hidden": hidden}
        case {"name": "residual", "width": width, "blocks": blocks}:
            others |= {"arch": "residual", "hidden": [width] * blocks}
        case _:
            others |= {"arch": arch}
    return others | (optimizer if optimizer.pop("name") == "adam" else {"optimizer": config["optimizer"]})


def _arch(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``{name, **arguments}`` of a network that is described by the keys ``arch``, ``hidden`` and ``recurrent``."""
    name, hidden, recurrent = values.get("arch", "mlp"), values["hidden"], values.get("recurrent", 0)
    if name == "residual":  # one width a block, all of them equal
        width, *others = hidden
        if recurrent or any(other != width for other in others):
            raise ValueError(f"residual blocks have one width and no memory, not {hidden} and {recurrent}")
        return {"name": name, "width": width, "blocks": len(hidden)}
    return {"name": name, "hidden": hidden, "recurrent": recurrent}
