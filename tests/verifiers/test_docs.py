"""The commands of the page run as they stand there, against the endpoint that it names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from nainjaune_env.records.record import parse_record, verify_record
from tests.support.source import ROOT
from tests.verifiers.conftest import VF_EVAL, environment

PAGE = ROOT / "docs" / "language_models.md"
ADDRESS = "http://127.0.0.1:8000/v1"


def commands() -> list[str]:
    section = PAGE.read_text(encoding="utf-8").partition("\n## verifiers\n")[2]
    (block,) = re.findall(r"^```\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    return block.replace("\\\n", " ").splitlines()


def run(command: str, folder: Path) -> None:
    variables = {**environment(), "PATH": f"{VF_EVAL.parent}:{environment()['PATH']}"}
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True, cwd=folder, env=variables)
    assert done.returncode == 0, done.stderr


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    install, evaluate, resume, replay = commands()
    assert ADDRESS in evaluate
    assert install == "pip install -e '.[numba]' ./examples/verifiers"
    endpoint = [sys.executable, ROOT / "examples" / "language_models" / "endpoint.py", "0"]
    with subprocess.Popen(endpoint, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            run(evaluate.replace(ADDRESS, url).replace("my-model", "closer").replace("-n 20", "-n 4"), tmp_path)
            run(resume, tmp_path)  # which has nothing left to do
        finally:
            process.kill()
    run(replay, tmp_path)
    for folder, reward in (("outputs/first", "edge"), ("regret", "regret")):
        lines = (tmp_path / folder / "traces.jsonl").read_text(encoding="utf-8").splitlines()
        traces = [trace for line in lines for trace in json.loads(line)["traces"]]
        assert len(traces) == 4
        for trace in traces:
            assert verify_record(parse_record(trace["info"]["record"])) == 1
            assert {*trace["rewards"]} == {reward}, trace["errors"]
