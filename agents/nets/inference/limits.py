"""The largest networks."""

from __future__ import annotations

from nainjaune_env.core.errors import ConfigError

MAX_UNITS = 1 << 14
"""Bound of a layer's width: the weights between two such layers are a gigabyte."""
MAX_WEIGHTS = 1 << 28
"""Bound of the weights between the hidden layers of a network: a gigabyte, and four with gradients and Adam's state."""


def check_weights(weights: int) -> None:
    """Raises :class:`ConfigError` for more than :data:`MAX_WEIGHTS` ``weights`` between hidden layers."""
    if weights > MAX_WEIGHTS:
        raise ConfigError(f"The hidden layers of a network have at most {MAX_WEIGHTS} weights between them, not {weights}.")
