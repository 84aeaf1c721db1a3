"""The lower bounds of pyproject.toml are versions that are tested, and every pinned version lies within its range."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.source import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_USERS = ("numba", "players", "report", "train", "onnx", "sb3", "openspiel", "torchrl", "render", "study", "serve")
"""The extras whose lower bounds `make lowest` installs."""
NOT_LOWEST = ("notebooks", "chat", "mcp", "ray", "optuna", "wandb", "mlflow")
"""All others for users."""


def pins(path: Path) -> dict[str, Version]:
    """The versions in a file of constraints, by the canonical name."""
    result = [Requirement(line) for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {canonicalize_name(one.name): Version(str(one.specifier).removeprefix("==")) for one in result}


def required(*extras: str) -> list[Requirement]:
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in EXTRAS[extra])]
    return [one for one in map(Requirement, texts) if canonicalize_name(one.name) != PROJECT["name"]]


def bound(requirement: Requirement) -> Version:
    (lowest,) = (one.version for one in requirement.specifier if one.operator == ">=")
    return Version(lowest)


@pytest.mark.parametrize("requirement", required(*FOR_USERS), ids=str)
def test_a_lower_bound_is_the_version_that_is_tested(requirement: Requirement) -> None:
    assert pins(ROOT / "constraints-lowest.txt")[canonicalize_name(requirement.name)] == bound(requirement)


@pytest.mark.parametrize(
    ("path", "extras"),
    [
        (
            "constraints.txt",
            [*FOR_USERS, *NOT_LOWEST, "cuda", "pufferlib", "docs", "dev"],
        ),
        ("constraints-lowest.txt", [*FOR_USERS, "dev"]),
        ("constraints-rllib.txt", ["report", "train", "rllib"]),
        ("constraints-peers.txt", ["peers"]),
    ],
)
def test_pinned_versions_are_in_their_ranges(path: str, extras: list[str]) -> None:
    pinned = pins(ROOT / path)
    for requirement in required(*extras):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("name", ["openenv", "verifiers"])
def test_pinned_versions_are_in_the_ranges_of_a_distribution_beside_its_hubs_files(name: str) -> None:
    """It is installed with the tests' libraries, as its target of the Makefile does."""
    pinned = pins(ROOT / f"constraints-{name}.txt")
    beside = tomllib.loads((ROOT / "examples" / name / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    of_package, *others = map(Requirement, beside)
    assert (of_package.name, of_package.extras) == (PROJECT["name"], {"players"})
    for requirement in (*required("players", "dev"), *others):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement


def test_the_extra_of_all_has_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == {*FOR_USERS, *NOT_LOWEST}


def test_the_pythons_are_those_of_the_workflow_and_of_the_page() -> None:
    """The classifiers, the public CI and the page about installing name the same versions."""
    pythons = [text.rsplit(" ", 1)[1] for text in PROJECT["classifiers"] if "Python :: 3." in text]
    assert pythons == sorted(pythons, key=Version)
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    matrix = rf"python: \[{re.escape(', '.join(map(repr, pythons)).replace(chr(39), chr(34)))}\]"
    assert len(re.findall(matrix, workflow)) == 2  # of the tests on Linux, and of the installed wheel on every system
    assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
