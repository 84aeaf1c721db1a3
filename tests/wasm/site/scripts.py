"""Scripts of this folder in Node.js."""

import subprocess
from pathlib import Path

from tests.wasm.test_javascript import node

HERE = Path(__file__).parent


def output_of(script: str, site: Path, given: str = "") -> str:
    """Runs a script with the folder of the site and a standard input; returns what it prints."""
    command = [node(), str(HERE / script), str(site)]
    result = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
