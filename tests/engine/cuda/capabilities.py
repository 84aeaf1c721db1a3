"""The GPUs that kernels are compiled for in tests: for the oldest by ``make test``, for the others by ``make long``."""

from __future__ import annotations

import pytest

CAPABILITIES = ((8, 0), (9, 0))
each_capability = pytest.mark.parametrize(
    "capability",
    [pytest.param(capability, marks=[pytest.mark.long] if number else []) for number, capability in enumerate(CAPABILITIES)],
    ids=str,
)
