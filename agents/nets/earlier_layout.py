"""Networks of earlier versions of an observation layout, which lacked features: they play on as if these were always 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.layout import Layout

from .common_layout import places


def with_later_features(
    weights: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]], earlier: Layout, layout: Layout
) -> dict[str, NDArray[Any]]:
    """Returns ``weights`` for observations of the ``earlier`` layout as weights for those of ``layout``.

    Matrices with a column for each byte, and perhaps more columns behind them, get columns of 0 where the earlier layout lacks a
    feature. They are those with as many columns fewer than they have in ``shapes``, by the names of the weights in the network of
    today. Other weights stay as they are.
    """
    kept, more = places(earlier, layout), layout.size - earlier.size
    changed: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        shape = shapes.get(name, ())
        if weight.ndim == 2 and shape == (weight.shape[0], weight.shape[1] + more):
            changed[name] = np.zeros(shape, weight.dtype)
            changed[name][:, np.concatenate([kept, np.arange(layout.size, shape[1])])] = weight
    return {**weights, **changed}
