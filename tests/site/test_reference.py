"""Pages of the reference, completed."""

from __future__ import annotations

from pathlib import Path

from .building import part


def test_a_module_that_no_page_lists_stands_on_the_page_of_its_innermost_package(tmp_path: Path) -> None:
    for name in (
        "nainjaune_env/a.py",
        "nainjaune_env/b.py",
        "agents/__init__.py",
        "agents/cli/c.py",
        "agents/d/__init__.py",
        "agents/d/e.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    pages = {
        "env": "# Env\n\n::: nainjaune_env\n\n::: nainjaune_env.b\n",
        "agents": "::: nainjaune_agents\n",
        "d": "::: nainjaune_agents.d\n",
    }
    (tmp_path / "docs" / "site" / "reference").mkdir(parents=True)
    for name, text in pages.items():
        (tmp_path / "docs" / "site" / "reference" / f"{name}.md").write_text(text, encoding="utf-8")
    completed = {name: part("reference").completed(text, tmp_path) for name, text in pages.items()}
    assert completed == {
        "env": "# Env\n\n::: nainjaune_env\n\n::: nainjaune_env.b\n\n## Further\n\n::: nainjaune_env.a\n",
        "agents": pages["agents"],
        "d": "::: nainjaune_agents.d\n\n## Further\n\n::: nainjaune_agents.d.e\n",
    }
