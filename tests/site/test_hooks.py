"""Which files are pages, what a link to any other leads to, and that a warning fails the build."""

from __future__ import annotations

from pathlib import Path

from .building import build, small
from .test_ipynb import notebook


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


def test_what_notebooks_link_to_is_shown_and_they_go_into_the_navigation(tmp_path: Path) -> None:
    config = small(tmp_path, "[README.md, notebooks/first.ipynb.md]")
    (tmp_path / "README.md").write_text("# Here\n\n[one](notebooks/first.ipynb)\n\n```python no-test\nb\n```\n", encoding="utf-8")
    (tmp_path / "a.py").write_text("aa = 1\n", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "first.ipynb").write_text(notebook(), encoding="utf-8")
    done = build(config, tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    front = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert front.count('href="notebooks/first/"') > 1
    assert 'class="language-python highlight"' in front
    assert 'href="../../source/a.py/"' in (tmp_path / "out" / "notebooks" / "first" / "index.html").read_text(encoding="utf-8")
    index = (tmp_path / "out" / "search" / "search_index.json").read_text(encoding="utf-8")
    assert ("a = 1" in index, "aa = 1" in index) == (True, False)  # the notebook's, and not the module's
    assert "<h1" in (tmp_path / "out" / "source" / "a.py" / "index.html").read_text(encoding="utf-8")
