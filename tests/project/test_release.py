"""The checks of ``make release``, and the recipes that it writes."""

from __future__ import annotations

import datetime
import hashlib
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.project.test_packaging import git
from tests.support.script import load_script
from tests.support.source import ROOT

FOLDER = ROOT / ".github" / "release"
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
TODAY = datetime.date(2026, 11, 27)
NEW = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A game.\n"
DONE = "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-27\n\n### Added\n\n- A game.\n"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    return load_script(FOLDER / "release.py", "release")


def test_unreleased_changes_become_those_of_a_version(release: ModuleType) -> None:
    assert release.with_version(NEW, "0.1.0", TODAY) == DONE
    release.check_changelog(DONE, "0.1.0", TODAY)
    later = DONE.replace("[Unreleased]\n", "[Unreleased]\n\n### Fixed\n\n- A fault.\n", 1)
    text = release.with_version(later, "0.1.1", TODAY)
    release.check_changelog(text, "0.1.1", TODAY)
    assert text.count("- A fault.") == text.count("- A game.") == 1
    assert text.index("- A fault.") < text.index("## [0.1.0]")


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (NEW, "1.0", "A version is three numbers, 1.2.3; not '1.0'"),
        (DONE, "0.2.0", "no unreleased change"),
        (DONE, "0.0.9", "already has version 0.1.0; 0.0.9 is not after it"),
        ("# Changelog\n\n## [0.1.0] - 2026-11-27\n", "0.2.0", r"must begin with the section \[Unreleased\]"),
    ],
)
def test_a_section_that_cannot_be_made_is_refused(release: ModuleType, text: str, version: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        release.with_version(text, version, TODAY)


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (NEW, "0.1.0", r"has unreleased changes\. `.*release\.py changelog 0\.1\.0`"),
        ("## [Unreleased]\n", "0.1.0", "must be version 0.1.0, the tag's; it is missing"),
        (DONE, "0.2.0", "must be version 0.2.0, the tag's; it is 0.1.0"),
        (DONE.replace(" - 2026-11-27", ""), "0.1.0", "must have a date, not after 2026-11-27; it has none"),
        (DONE.replace("11-27", "11-28"), "0.1.0", "not after 2026-11-27; it has 2026-11-28"),
        (DONE.replace("- A game.\n", ""), "0.1.0", r"version 0\.1\.0 has no change"),
    ],
)
def test_a_changelog_that_is_not_that_of_the_version_is_refused(
    release: ModuleType, text: str, version: str, message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        release.check_changelog(text, version, TODAY)


@pytest.mark.slow
def test_only_a_clean_commit_with_a_tag_is_a_release(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    git(tmp_path, "init", "--quiet")
    with pytest.raises(SystemExit, match=r"differ from it:\n\?\? pyproject\.toml"):
        release.tagged_version()
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    with pytest.raises(SystemExit, match=r"This commit is version 0\.1\.0\.dev1, not a release\..* `git tag v1\.2\.3`"):
        release.tagged_version()
    git(tmp_path, "tag", "v0.1.0")
    assert release.tagged_version() == "0.1.0"


def test_files_of_another_version_too_many_or_too_large_are_refused(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="it has 0 and 0"):
        release.built_files(tmp_path, "0.1.0")
    source = tmp_path / "nainjaune_env-0.1.0.tar.gz"
    wheels = [tmp_path / f"nainjaune_env-0.1.0-{tags}.whl" for tags in ("py3-none-any", "py3-none-win_amd64")]
    for path in (source, *wheels):
        path.write_bytes(b"12345")
    assert release.built_files(tmp_path, "0.1.0") == (source, wheels)
    with pytest.raises(SystemExit, match=r"is version 0\.1\.0; this commit is 0\.2\.0"):
        release.built_files(tmp_path, "0.2.0")
    monkeypatch.setattr(release, "MAX_SDIST", 4)
    with pytest.raises(SystemExit, match=r"tar\.gz has .* MB; the most is"):
        release.built_files(tmp_path, "0.1.0")


def requirement(text: str) -> str:
    """A requirement of pyproject.toml as conda spells it; recipes bring no compiled loops, so numba is for all machines."""
    return re.sub(r"(>=[^;]*).*", r" \1", text)


@pytest.fixture(params=["conda-forge", "emscripten-forge"])
def recipe(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    text = (FOLDER / request.param / "recipe.yaml").read_text(encoding="utf-8")
    return request.param, yaml.safe_load(text)


def test_a_recipe_requires_what_the_project_requires(recipe: tuple[str, dict[str, Any]]) -> None:
    """For conda-forge with trained players, whose library emscripten-forge does not have."""
    channel, content = recipe
    python = f"python {PROJECT['requires-python']}"
    asked = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"]["players"] if channel == "conda-forge" else [])]
    python_min = content["context"].get("python_min", "")
    assert [line.replace("${{ python_min }}", python_min) for line in content["requirements"]["run"]] == [
        python,
        *map(requirement, asked),
    ]
    tools = {line for part in ("build", "host") for line in content["requirements"].get(part, [])}
    assert set(map(requirement, PYPROJECT["build-system"]["requires"])) <= tools


def test_a_recipe_says_what_the_project_says(recipe: tuple[str, dict[str, Any]]) -> None:
    about = recipe[1]["about"]
    assert (recipe[1]["package"]["name"], about["summary"]) == (PROJECT["name"], PROJECT["description"])
    assert (about["license"], [about["license_file"]]) == (PROJECT["license"], PROJECT["license-files"])


def test_recipes_are_written_with_version_and_hashes(release: ModuleType, tmp_path: Path) -> None:
    source, wheel = tmp_path / "a.tar.gz", tmp_path / "a-py3-none-any.whl"
    source.write_bytes(b"a")
    wheel.write_bytes(b"b")
    out = tmp_path / "conda"
    release.write_recipes(out, "0.1.0", source, [wheel])
    hashes = {b: hashlib.sha256(b).hexdigest() for b in (b"a", b"b")}
    forge = yaml.safe_load((out / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8"))
    assert forge["context"]["version"] == "0.1.0"
    assert [one["sha256"] for one in forge["source"]] == [hashes[b"a"], hashes[b"b"]]
    emscripten = yaml.safe_load((out / "emscripten-forge" / "recipe.yaml").read_text(encoding="utf-8"))
    assert (emscripten["context"]["version"], emscripten["source"]["sha256"]) == ("0.1.0", hashes[b"a"])
    assert {path.name for path in out.rglob("*.*")} == {"recipe.yaml", "test_nainjaune_env.py"}
    with pytest.raises(SystemExit, match="a wheel for any machine"):
        release.write_recipes(out, "0.1.0", source, [tmp_path / "a-py3-none-win_amd64.whl"])
