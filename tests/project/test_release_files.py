"""What strangers and public services read: workflows, changelog, citation."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any

import pytest
import yaml

from tests.conftest import SCRIPT_FOLDERS
from tests.support.source import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
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


def read(path: Any) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: dict[Any, Any]) -> list[str]:
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile_and_nothing_else(path: Any) -> None:
    workflow = read(path)
    assert commands(workflow)
    for command in commands(workflow):
        program, target, *more = command.split()
        assert (program == "make" and target in TARGETS and not more) or command in PORTABLE
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
        assert all(step["with"]["fetch-depth"] == 0 for step in checkouts), "without the tags there is no version"


def test_only_what_was_built_and_checked_is_published() -> None:
    """To PyPI after TestPyPI, each in an environment of its own, whose job alone may ask for an identity and builds nothing."""
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert commands({"jobs": {"build": jobs["build"]}}) == ["make release"]
    assert (jobs["rehearse"]["needs"], jobs["publish"]["needs"]) == ("build", "rehearse")
    for job, environment in (("rehearse", "testpypi"), ("publish", "pypi")):
        assert jobs[job]["environment"]["name"] == environment
        assert jobs[job]["permissions"] == {"id-token": "write"}
        assert [step["uses"].split("@")[0] for step in jobs[job]["steps"]] == [
            "actions/download-artifact",
            "pypa/gh-action-pypi-publish",
        ]
    assert "permissions" not in jobs["build"]


def test_scripts_are_tested_when_what_they_touch_changes() -> None:
    """And on the main branch, whatever has changed."""
    events = read(ROOT / ".github" / "workflows" / "scripts.yml")[True]  # YAML's `on`
    paths = events["pull_request"]["paths"]
    assert events["push"] == {"branches": ["main"]}
    for folder in SCRIPT_FOLDERS:
        assert f"tests/{folder}/**" in paths
    for path in paths:
        assert list(ROOT.glob(path.removesuffix("/**"))), path


def test_the_changelog_keeps_the_form() -> None:
    """That of Keep a Changelog 1.1.0."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    for head in heads[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head), head
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


def test_the_citation_says_what_the_project_says() -> None:
    """The fields that version 1.2.0 of the format requires, and those that pyproject.toml has too."""
    citation = read(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["title"] == project["name"]
    assert citation["license"] == project["license"]
    assert citation["authors"] == [{"name": author["name"]} for author in project["authors"]]


def test_zenodo_is_told_what_the_citation_says() -> None:
    """In the words of Zenodo's deposit metadata. Where this file is, Zenodo does not read the citation."""
    citation = read(ROOT / "CITATION.cff")
    assert json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8")) == {
        "title": citation["title"],
        "description": citation["abstract"],
        "upload_type": citation["type"],
        "access_right": "open",
        "license": citation["license"],
        "creators": citation["authors"],
        "keywords": citation["keywords"],
    }


def test_every_page_of_an_adaptor_tells_how_to_install_its_extra() -> None:
    """From a checkout and from an index; and the page about installing has every extra."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))) >= extras.keys()
    for name, extra in {
        "stable_baselines3": "sb3", "open_spiel": "openspiel", "torchrl": "torchrl", "rllib": "rllib",
        "pufferlib": "pufferlib",
    }.items():  # fmt: skip
        text = (ROOT / "docs" / "adaptors" / f"{name}.md").read_text(encoding="utf-8")
        assert f"`pip install -e '.[numba,{extra}]'` in a checkout" in text
        assert f"`pip install 'nainjaune-env[{extra}]'` from an index" in text
        assert "](../installing.md)" in text


def test_links_to_the_repository_are_those_of_the_project() -> None:
    """Badges and patches name the repository as pyproject.toml does: as an address, or as owner and name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"]["Repository"]
    owner, name = address.removeprefix("https://github.com/").split("/")
    assert name == project["name"]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    texts = [
        (ROOT / path).read_text(encoding="utf-8") for path in listed if path.endswith((".md", ".diff", ".py", ".cff", ".ipynb"))
    ]
    owners = re.findall(rf"(?:github(?:\.com|/stars)?|/gh)/([\w.-]+)/{name}\b", "\n".join(texts))
    assert len(owners) > 5
    assert set(owners) == {owner}
