"""What docs/advise.md shows of Python runs as it stands there."""

from __future__ import annotations

import re

import pytest

from tests.support.example import run_example
from tests.support.source import ROOT

PAGE = (ROOT / "docs" / "advise.md").read_text(encoding="utf-8")


def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    run_example(code.replace("1000", "40"), "docs/advise.md")  # fewer positions, which take the most of its time
    assert "(40, 24, 5)" in capsys.readouterr().out
