"""What strangers and public services read: changelog, citation, links."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any

import yaml

from tests.support.source import ROOT


def read(path: Any) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


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
