"""Types of the arguments of kernel functions, for type checkers and readers; numba ignores annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

Table: TypeAlias = Any
"""One table: an element of an array of a game's structured dtype (``GameSpec.table``), with its fields as attributes."""
