"""The texts of events that the site makes, by the cases that Python's are tested with."""

import json
import subprocess

from tests.core.test_event_texts import CASES
from tests.wasm.conftest import node
from tests.wasm.site.scripts import HERE


def test_the_site_says_the_same_as_python() -> None:
    given = CASES.read_text(encoding="utf-8")
    command = [node(), str(HERE / "event_texts.mjs")]
    result = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True)
    expected = [{name: case[name] for name in ("heard", "settlement")} for case in json.loads(given)["cases"]]
    assert json.loads(result.stdout) == expected
