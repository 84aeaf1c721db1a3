"""Arrays of whole numbers in JSON, as compressed text: shorter and quicker than lists of numbers."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import WorkError

Whole = TypeVar("Whole", bound=np.signedinteger[Any])


def packed(array: NDArray[Any]) -> str:
    """Returns the numbers of ``array`` as text: base64 of the zlib-compressed bytes in little-endian order."""
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little_endian.tobytes(), 1)).decode()


def unpacked(text: str, shape: tuple[int, ...], dtype: type[Whole]) -> NDArray[Whole]:
    """Returns the array of ``shape`` and ``dtype`` that :func:`packed` wrote; raises :class:`WorkError` for any other."""
    kind = np.dtype(dtype).newbyteorder("<")
    size = math.prod(shape) * kind.itemsize
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, TypeError, binascii.Error, zlib.error):
        data = b""
    if len(data) != size:
        raise WorkError(f"Expected whole numbers of shape {shape}, {size} bytes when unpacked, and got something else.")
    return np.frombuffer(data, kind).reshape(shape).astype(dtype)
