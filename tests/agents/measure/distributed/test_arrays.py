"""Arrays as text, and text that is none."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from nainjaune_agents.measure.distributed.arrays import packed, unpacked
from nainjaune_env.core.errors import WorkError


@pytest.mark.parametrize("dtype", [np.int16, np.int64])
def test_they_come_back_as_they_were(dtype: type[np.signedinteger]) -> None:
    array = np.random.default_rng(1).integers(-30_000, 30_000, (7, 3)).astype(dtype)
    again = unpacked(packed(array[:, ::-1]), (7, 3), dtype)
    np.testing.assert_array_equal(again, array[:, ::-1])
    assert again.dtype == dtype


@pytest.mark.parametrize(
    "text",
    [
        "", "no base64!", base64.b64encode(b"not compressed").decode(), packed(np.zeros(3, np.int64)),
        packed(np.zeros(1, np.int64)), base64.b64encode(zlib.compress(bytes(10**7))).decode(), None, 7,
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(WorkError, match=r"Expected whole numbers of shape \(2,\), 16 bytes"):
        unpacked(text, (2,), np.int64)
