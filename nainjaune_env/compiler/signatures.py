"""The types of a call's arguments, and the arguments as words of 64 bits, for functions that were compiled ahead.

A signature is a tuple with an entry for each argument, made of strings, numbers and tuples: arrays have their dtype, dimensions,
layout and whether they can be written, as numba compiles other code for other ones.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Signature = tuple[Any, ...]

_DTYPES: dict[np.dtype[Any], str] = {}
"""The names of dtypes that were met; a record's is a hash of its fields, and takes long to make."""


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Returns a name that equal dtypes have, and no others."""
    name = _DTYPES.get(dtype)
    if name is None:
        fields = repr((dtype.descr, dtype.itemsize)).encode()
        name = _DTYPES[dtype] = dtype.str if dtype.names is None else f"record-{hashlib.sha256(fields).hexdigest()[:16]}"
    return name


def describe_record(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Returns the fields of a record as JSON has them, for :func:`record_of`."""
    fields: Any = dtype.fields
    parts = [(fields[name][0].base.str, [*fields[name][0].shape], fields[name][1]) for name in dtype.names or ()]
    return {"names": [*(dtype.names or ())], "fields": parts, "size": dtype.itemsize, "aligned": dtype.isalignedstruct}


def record_of(description: Mapping[str, Any]) -> np.dtype[Any]:
    """Returns the dtype that :func:`describe_record` has described."""
    formats, shapes, offsets = zip(*description["fields"], strict=True)
    parts = [(kind, tuple(shape)) if shape else kind for kind, shape in zip(formats, shapes, strict=True)]
    layout: Any = {"names": description["names"], "formats": parts, "offsets": offsets, "itemsize": description["size"]}
    dtype: np.dtype[Any] = np.dtype(layout, align=description["aligned"])
    return dtype


def _array(value: Any) -> Any:
    flags = value.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return _DTYPES.get(value.dtype) or dtype_name(value.dtype), value.ndim, layout, flags.writeable


def _integer(value: Any) -> Any:
    return "int64" if value < 1 << 63 else "uint64"


def _tuple(value: Any) -> Any:
    kind = type(value)
    return "" if kind is tuple else f"{kind.__module__}.{kind.__qualname__}", *map(type_of, value)


_TYPES: dict[type, Callable[[Any], Any]] = {
    np.ndarray: _array,
    int: _integer,
    bool: lambda _: "bool",
    np.bool_: lambda _: "bool",
    float: lambda _: "float64",
    type(None): lambda _: "none",
    np.void: lambda value: (dtype_name(value.dtype),),
    np.record: lambda value: (dtype_name(value.dtype),),
}


def type_of(value: Any) -> Any:
    """Returns the entry of ``value`` in a signature."""
    kind = type(value)
    make = _TYPES.get(kind)
    if make is not None:
        return make(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple):
        return _tuple(value)
    return str(value.dtype) if isinstance(value, np.generic) else kind.__qualname__


def signature_of(arguments: tuple[Any, ...]) -> Signature:
    """Returns the signature of a call with ``arguments``."""
    return tuple(map(type_of, arguments))


def from_json(value: Any) -> Any:
    """Returns the signature that JSON has as lists."""
    return tuple(map(from_json, value)) if isinstance(value, list) else value


def example_of(entry: Any, records: Mapping[str, np.dtype[Any]]) -> Any:
    """Returns a value whose entry in a signature is ``entry``; ``records`` are the dtypes of records by :func:`dtype_name`."""
    if isinstance(entry, str):
        if entry == "none":
            return None
        return np.dtype(entry).type(0)
    if len(entry) == 1 and entry[0]:
        return np.zeros(1, records[entry[0]])[0]
    if len(entry) == 4 and entry[2] in ("C", "F", "A"):
        name, dimensions, layout, writeable = entry
        array = np.zeros((4,) * dimensions, records.get(name) or name, order="F" if layout == "F" else "C")
        array = array[..., ::2] if layout == "A" else array
        array.flags.writeable = writeable
        return array
    kind, *parts = entry
    values = (example_of(part, records) for part in parts)
    if not kind:
        return tuple(values)
    module, _, name = kind.rpartition(".")
    return getattr(importlib.import_module(module), name)(*values)


def words_of(value: Any) -> Iterator[int]:
    """Yields ``value`` as a compiled function reads it: numbers below 2**64 in size.

    Of an array these are the address of its data, its shape and its strides; of a record its address. None has none.
    """
    kind = type(value)
    if kind is np.ndarray or isinstance(value, np.ndarray):
        yield address_of(value)
        yield from value.shape
        yield from value.strides
    elif isinstance(value, tuple):
        for part in value:
            yield from words_of(part)
    elif isinstance(value, np.void):
        yield np.frombuffer(value, np.uint8).ctypes.data
    elif isinstance(value, float | np.floating):
        yield struct.unpack("q", struct.pack("d", value))[0]
    elif value is not None:
        yield _as_signed(int(value))


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Returns the address of the first item of ``array``."""
    if array.flags.carray and array.size and array.dtype.names is None:
        return ctypes.addressof(_from_buffer(array))  # a third of the time of the array's attribute ``ctypes``
    address: int = array.ctypes.data
    return address


_from_buffer: Any = ctypes.c_char.from_buffer


def _as_signed(number: int) -> int:
    return number if number < 1 << 63 else number - (1 << 64)
