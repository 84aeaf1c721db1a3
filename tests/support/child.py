"""Python in a process of its own, for what is settled when it starts: whether the compiler is on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.source import ROOT


def told_by(code: str, **environment: str) -> Any:
    """The JSON that ``code`` prints, with ``environment`` set besides and warnings as errors."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)
