"""What a file is that is no checkpoint of ours, by its first bytes, so that an error can say it."""

from __future__ import annotations

import zipfile
from pathlib import Path

SB3_MODEL, ONNX_MODEL = "a zip archive of a Stable-Baselines3 model", "an ONNX model"
PLAYERS = {SB3_MODEL: "sb3", ONNX_MODEL: "onnx"}
"""What begins the names of players in such files (``external.KINDS``)."""
STARTS = (
    (b"\x89HDF", "an HDF5 file, such as Keras saves"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"GGUF", "a GGUF file"),
    (b"{", "text, perhaps JSON"),
)
"""What files begin with, and what they are then."""


def foreign_kind(path: Path) -> str | None:
    """Returns what the file at ``path`` is, such as "a zip archive"; None where its first bytes tell nothing.

    Raises ``OSError`` where it cannot be read. Nothing in it is run.
    """
    with path.open("rb") as file:
        head = file.read(16)
    if head[8:9] == b"{":  # after eight bytes of its length, the header of a safetensors file
        return None
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if {"policy.pth", "data"} <= set(names):
            return SB3_MODEL
        if any(name.endswith("/data.pkl") or name == "data.pkl" for name in names):
            return "a pickle of torch.save (.pt, .pth)"
        return "a zip archive"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return "a pickle, as older releases of torch.save wrote (.pt, .pth)"
    if head[:1] == b"\x08" and head[2:3] == b"\x12":  # the version of the format, and then the name of the program
        return ONNX_MODEL
    return next((kind for start, kind in STARTS if head.startswith(start)), None)
