"""Which files are pages, what a link to any other leads to, and that a warning fails the build."""

from __future__ import annotations

from pathlib import Path

from .building import build, small


def test_a_warning_fails_the_build(tmp_path: Path) -> None:
    """A page that is not in the navigation, and three links that lead nowhere, one for want of an ending."""
    config = small(tmp_path, "[README.md]")
    (tmp_path / "README.md").write_text(
        "# Here\n\n[there](docs/there.md) [here](#there) [forgotten](docs/forgotten)\n", encoding="utf-8"
    )
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(config, tmp_path / "out")
    assert done.returncode != 0
    for fault in ("docs/there.md", "#there", "docs/forgotten.md", "docs/forgotten'", "Aborted with 4 warnings in strict mode"):
        assert fault in done.stdout + done.stderr
