"""The workflows of GitHub, and the script that runs their jobs on any machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.support.script import load_script
from tests.support.source import ROOT

SCRIPT = ROOT / ".github" / "run_workflows.py"
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))}
TEXTS = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
QUICK = re.search(r"^QUICK \?= (.*)$", MAKEFILE, re.MULTILINE)
PORTABLE = {
    "python benchmarks/installs.py --dist dist --constraint constraints.txt --check "
    "--extras none players,render,study,serve train,onnx,sb3,openspiel,torchrl",
    "python -m pip install --constraint constraints.txt --editable '.[train,sb3,openspiel,torchrl,render,study,dev]'",
    f'python -m pytest -n auto --dist worksteal -m "not slow and not long and not scripts" {QUICK and QUICK[1]}',
}
"""Commands that Windows runs too, where there is no make; the last is that of `make quick`."""
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
MATRIX = "jobs: {a: {strategy: {matrix: {x: [1, 2], y: [c]}}, steps: [{run: 'say ${{ matrix.x }} ${{ matrix.y }}'}, {uses: z}]}}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    module = sys.modules["run_workflows"] = load_script(
        ROOT / ".github" / "run_workflows.py", "run_workflows"
    )  # for its dataclass
    return module


def jobs(script: ModuleType, text: str, folder: Path, **variables: str) -> list[Any]:
    (folder / "a.yml").write_text(text, encoding="utf-8")
    return list(script.jobs(folder / "a.yml", {f"vars.{name}": value for name, value in variables.items()}))


def test_jobs_run_targets_of_the_makefile_and_nothing_else(script: ModuleType) -> None:
    everything = [job for name in WORKFLOWS for job in script.jobs(FOLDER / f"{name}.yml", {})]
    assert {job.key for job in everything} == {key for workflow in WORKFLOWS.values() for key in workflow["jobs"]}
    assert len({job.name for job in everything}) == len(everything)
    for job in everything:
        assert len(job.commands()) == sum("run" in step for step in job.settings["steps"])
        assert job.settings["timeout-minutes"] <= 60
        for command in job.commands():
            program, target, *more = command.split()
            assert (program == "make" and target in TARGETS and not more) or command in PORTABLE
        checkouts = job.steps("actions/checkout")
        assert all(step == {"fetch-depth": "0", "persist-credentials": "False"} for step in checkouts), "tags make the version"
        assert bool(checkouts) == bool(job.commands())
        job.obstacle()  # a system that the script does not know is refused


def test_rights_are_few_and_an_action_has_one_version() -> None:
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
        assert workflow["env"]["PIP_EXTRA_INDEX_URL"] == "${{ vars.TORCH_CPU_INDEX || 'https://download.pytorch.org/whl/cpu' }}"
    assert "secrets." not in TEXTS
    versions = set(re.findall(r"uses: (\S+)@(\S+)", TEXTS))
    assert len(versions) == len(dict(versions))


def test_only_what_was_built_and_checked_is_published() -> None:
    """To PyPI after TestPyPI, each in an environment of its own, whose job alone may ask for an identity and builds nothing."""
    jobs = WORKFLOWS["release"]["jobs"]
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step] == ["make release"]
    assert (jobs["rehearse"]["needs"], jobs["publish"]["needs"]) == ("build", "rehearse")
    for job, environment in (("rehearse", "testpypi"), ("publish", "pypi")):
        assert jobs[job]["environment"]["name"] == environment
        assert jobs[job]["permissions"] == {"id-token": "write"}
        assert [step["uses"].split("@")[0] for step in jobs[job]["steps"]] == [
            "actions/download-artifact",
            "pypa/gh-action-pypi-publish",
        ]
    assert "permissions" not in jobs["build"]


def test_the_site_is_published_from_main_where_pages_are_on() -> None:
    """A condition of the job, since GitHub refuses a job's environment before its steps begin."""
    jobs = WORKFLOWS["ci"]["jobs"]
    assert [step["run"] for step in jobs["docs"]["steps"] if "run" in step] == ["make play", "make docs"]
    assert jobs["docs"]["steps"][-1]["with"] == {"path": "build/site/"}
    assert jobs["pages"]["needs"] == "docs"
    assert jobs["pages"]["if"] == "github.ref == 'refs/heads/main' && github.event.repository.has_pages"
    assert jobs["pages"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_a_matrix_becomes_jobs_with_its_values(script: ModuleType, tmp_path: Path) -> None:
    named = {job.name: job.commands() for job in jobs(script, MATRIX, tmp_path)}
    assert named == {"a (1, c)": ["say 1 c"], "a (2, c)": ["say 2 c"]}


def test_variables_of_the_repository_come_before_the_text(script: ModuleType, tmp_path: Path) -> None:
    text = "jobs: {a: {steps: [{run: \"${{ vars.X || 'y' }}\"}]}}"
    assert [job.commands() for job in jobs(script, text, tmp_path)] == [["y"]]
    assert [job.commands() for job in jobs(script, text, tmp_path, X="x")] == [["x"]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("y: [c]", "include: [{y: c}]", r"Job 'a': expected a matrix of lists, without include and exclude; got .*'include'"),
        ("{x: [1, 2], y: [c]}", "'${{ fromJSON(needs.b) }}'", r"expected a matrix of lists.*fromJSON"),
        ("matrix.y", "matrix.z", r"Expected names of the matrix, vars.NAME or 'text'.*matrix\.z"),
    ],
)
def test_what_cannot_be_filled_in_is_refused(script: ModuleType, tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        [job.commands() for job in jobs(script, MATRIX.replace(old, new), tmp_path)]


def test_an_artifact_has_the_names_of_github(script: ModuleType, tmp_path: Path) -> None:
    """One folder is the artifact itself; of several the names begin where they differ."""
    for name in ("build/a/1", "build/b/2"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    script.store({"name": "one", "path": "build/a/"}, tmp_path, tmp_path / "out")
    script.store({"name": "two", "path": "build/a/\nbuild/b/\n"}, tmp_path, tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("?")}
    assert {"one/1", "two/a/1", "two/b/2"} <= names
    assert "two/1" not in names


@pytest.mark.slow
def test_a_job_runs_in_a_clone_and_its_artifacts_reach_the_next(tmp_path: Path) -> None:
    """A failed job is reported, and those that need it are skipped."""
    steps = "steps: [{uses: actions/setup-python@v7, with: {python-version: '3'}}, "
    head = "runs-on: ubuntu-latest, timeout-minutes: 1, "
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / ".github")
    (tmp_path / ".github" / "workflows" / "a.yml").write_text(
        f"jobs:\n  a: {{{head}{steps}{{run: mkdir d; pwd > d/x}}, "
        "{uses: actions/upload-artifact@v7, with: {name: d, path: d}}]}\n"
        f"  b: {{{head}needs: a, {steps}{{uses: actions/download-artifact@v8, with: {{name: d, path: e}}}}, "
        "{run: cat e/x; exit 3}]}\n"
        f"  c: {{{head}needs: b, {steps}{{run: 'true'}}]}}\n",
        encoding="utf-8",
    )
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    command = [sys.executable, ".github/run_workflows.py", "--job", "b", "c"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    rows = [line.split(maxsplit=2) for line in done.stdout.splitlines()[-3:]]
    assert (rows[0][0], rows[0][2]) == ("a", "ok")
    assert (rows[1][0], rows[1][2]) == ("b", "failed: `cat e/x; exit 3` ended with status 3")
    assert " ".join(rows[2]) == "c skipped: needs b, which did not succeed"
    log = (tmp_path / "build" / "workflows" / "b.log").read_text(encoding="utf-8")
    assert str(tmp_path / "build" / "workflows" / "a") in log, "another clone made the file"


def test_badges_show_the_workflow_that_tests_main() -> None:
    """Their address is that of pyproject.toml: `test_links_to_the_repository_are_those_of_the_project`."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    badge = re.findall(r"actions/workflows/(\w+)\.yml/badge\.svg\?branch=(\w+)\)\]\(\S+/actions/workflows/(\w+)\.yml\)", readme)
    assert badge == [("ci", "main", "ci")]
    assert WORKFLOWS["ci"][True]["push"] == {"branches": ["main"]}  # YAML's `on`
