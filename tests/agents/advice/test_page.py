"""What docs/advise.md shows of Python runs as it stands there."""

from __future__ import annotations

import re

import pytest

from tests.support.source import ROOT

PAGE = (ROOT / "docs" / "advise.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs/advise.md", "exec"), {})
    assert "(1000, 24, 5)" in capsys.readouterr().out
