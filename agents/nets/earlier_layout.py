"""Networks of earlier versions of an observation layout, which lacked features: they play on as if these were always 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.layout import Layout

from .common_layout import places

Shapes = Callable[[Layout], Mapping[str, tuple[int, ...]]]
"""Returns the shapes of a network's weights, by name, for observations of a layout."""


def with_later_features(
    weights: Mapping[str, NDArray[Any]], shapes: Shapes, earlier: Layout, layout: Layout
) -> dict[str, NDArray[Any]]:
    """Returns ``weights`` for observations of the ``earlier`` layout as weights for those of ``layout``.

    A matrix that has a column for each byte, and perhaps others behind them, gets columns of 0 where the earlier layout lacks a
    feature. Other weights stay as they are, and so do those that are not of the shape which such a network has.
    """
    before, after = shapes(earlier), shapes(layout)
    kept, more = places(earlier, layout), layout.size - earlier.size
    changed: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        rows, columns = before[name] if len(before.get(name, ())) == 2 else (0, 0)
        if weight.shape == (rows, columns) and after[name] == (rows, columns + more):
            changed[name] = np.zeros(after[name], weight.dtype)
            changed[name][:, kept] = weight[:, : earlier.size]
            changed[name][:, layout.size :] = weight[:, earlier.size :]
    return {**weights, **changed}
