"""The tool that compiles loops ahead for wheels, loaded from where releases are made."""

from __future__ import annotations

from typing import Any

from tests.support.script import load_script
from tests.support.source import ROOT

calls: Any = load_script(ROOT / ".github" / "release" / "ahead" / "calls.py", "calls")
"""Its list of compiled calls."""
