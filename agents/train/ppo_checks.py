"""Keys of PPO that do not go together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from nainjaune_env.core.errors import ConfigError

from ..base.devices import check_device
from ..base.task import CARRIED
from ..players.networks.inference.base import check_weights
from .opponents import PAST, SELF


def check_config(config: Any) -> None:
    """Raises :class:`ConfigError` for keys of ``config``, a ``ppo.Config``, that do not go together.

    Raises :class:`~nainjaune_env.core.errors.DeviceError` for a device that is not there.
    """
    check_weights(sum(a * b for a, b in pairwise(config.critic_hidden)))
    check_device(config.device)
    if config.recall and not config.recurrent:
        raise ConfigError("'recall' trains the memory of a network, and this one has none: set arch.recurrent too.")
    if config.mixture and PAST in config.shares:
        raise ConfigError("Past selves play at tables of one setup: with a 'mixture' there is no 'past' among 'opponents'.")
    if config.device != "cpu" and [*config.shares] != [SELF]:
        raise ConfigError("Opponents play on the CPU: with device='cuda' there is no 'opponents'.")
    if PAST in config.shares and config.overlap:
        raise ConfigError("With 'past' among 'opponents' no rounds are played ahead: set 'overlap' to false.")
    apart = {"device": config.device != "cpu", "start": config.task.start == CARRIED}
    for key in (key for key, used in apart.items() if used and config.overlap):
        raise ConfigError(f"With {key}={getattr(config, key)!r} no rounds are played ahead: set 'overlap' to false.")
