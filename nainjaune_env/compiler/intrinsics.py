"""Instructions of the processor that numba has no Python for, by name: ``intrinsic_code`` has what generates them.

``jit.replaced_by`` puts one in the place of a function of this project that plain Python and CUDA run as it is written. A name
alone imports no compiler, so that modules with compiled functions can be imported where all of these were compiled ahead.
"""

from __future__ import annotations

import importlib
from typing import Any

UNITS = 64
"""Outputs of a layer that ``sum_units`` computes at once: with two rows, 8 registers of AVX-512 and 16 of AVX2."""
WORD = 32
"""Numbers that ``nonzero_bits`` compares with 0."""


class Intrinsic:
    """An intrinsic of ``intrinsic_code``, which compiled code calls under this name; Python cannot."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        """Raises ``NotImplementedError``."""
        raise NotImplementedError(f"{self.name} is called by compiled code alone")

    @property
    def _numba_type_(self) -> Any:
        """The type of a global that compiled code calls; numba asks for it."""
        code = importlib.import_module("nainjaune_env.compiler.intrinsic_code")
        return code.type_of(getattr(code, self.name))


store_word = Intrinsic("store_word")
store_counts = Intrinsic("store_counts")
prefetch_record = Intrinsic("prefetch_record")
nth_bit = Intrinsic("nth_bit")
load = Intrinsic("load")
fetch_add = Intrinsic("fetch_add")
sum_units = Intrinsic("sum_units")
nonzero_bits = Intrinsic("nonzero_bits")
pause = Intrinsic("pause")
address_of = Intrinsic("address_of")
array_at = Intrinsic("array_at")
pointer_at = Intrinsic("pointer_at")
rows_of = Intrinsic("rows_of")
view_at = Intrinsic("view_at")
