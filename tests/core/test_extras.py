"""The command in the error for a missing library works from where the package was installed."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from nainjaune_agents.cli.main import EXTRAS
from nainjaune_env.core import extras
from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.core.extras import install_command
from tests.support.source import ROOT, sources

WHEEL = "file:///home/me/nainjaune_env-1.2.3-py3-none-any.whl"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'nainjaune-env[sb3]'"),
        ({"url": "file:///home/me/my%20games", "dir_info": {"editable": True}}, "pip install -e '/home/me/my games[sb3]'"),
        ({"url": "file:///home/me/games", "dir_info": {}}, "pip install '/home/me/games[sb3]'"),
        ({"url": WHEEL, "archive_info": {}}, f"pip install 'nainjaune-env[sb3] @ {WHEEL}'"),
        (
            {"url": "https://example.org/games.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            "pip install 'nainjaune-env[sb3] @ git+https://example.org/games.git@ab12'",
        ),
    ],
    ids=["index", "checkout", "folder", "wheel", "repository"],
)
def test_the_command_takes_the_extra_from_where_the_package_came_from(
    origin: dict[str, object] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "distributions", lambda name: [Metadata(None), Metadata(origin)])
    assert install_command("sb3") == command
    assert str(MissingLibraryError("The adaptor", "stable_baselines3", "sb3")) == (
        f"The adaptor needs the package 'stable_baselines3', which is not installed: {command}."
    )


class Metadata:
    """Of an installed distribution, of which a file alone is read."""

    def __init__(self, origin: dict[str, object] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


def test_folders_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "distributions", lambda name: [])
    assert install_command("study") == "pip install 'nainjaune-env[study]'"


def test_a_checkout_names_itself() -> None:
    """As ``make setup`` installs it."""
    assert install_command("study") == f"pip install -e '{ROOT}[study]'"


def test_every_extra_that_an_error_names_is_there() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = set(EXTRAS.values())
    for source in sources().values():
        named |= set(re.findall(r'MissingLibraryError\([^)]*, "(\w+)"\)', source.path.read_text(encoding="utf-8")))
    assert {"sb3", "openspiel", "cuda", "rllib", "train", "study"} <= named <= offered.keys()
