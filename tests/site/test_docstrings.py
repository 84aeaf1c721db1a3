"""Docstrings as Markdown."""

from __future__ import annotations

import griffe
import pytest

from .building import part

CODE = '''
"""A module; see :meth:`Table.step`."""
from nainjaune_env.engine.batch import Batch

class Table(Base):
    """Like :class:`~nainjaune_env.core.spec.Setup`, not like :class:`Batch`; raises :class:`DealError` or :class:`ValueError`."""

    def reset(self):
        """Before :meth:`step`."""

    def step(self):
        """A :class:`~.spec.Stage` of :attr:`Table.stages`."""

    def leap(self):
        """Not :meth:`fly`."""
'''


def test_roles_become_links_and_one_that_names_nothing_is_refused() -> None:
    translated = part("docstrings").translated
    with griffe.temporary_visited_module(CODE, module_name="room") as module:
        table = module["Table"]
        text = [translated(obj.docstring.value, obj).strip() for obj in (module, table, table["reset"], table["step"])]
        with pytest.raises(ValueError, match=r"room\.Table\.leap: the name 'fly' is unknown here; write its whole path\."):
            translated(table["leap"].docstring.value, table["leap"])
    assert text == [
        "A module; see `Table.step`.",  # no module of ours, so nothing to link to
        "Like [`Setup`][nainjaune_env.core.spec.Setup], not like [`Batch`][nainjaune_env.engine.batch.Batch]; "
        "raises [`DealError`][nainjaune_env.core.errors.DealError] or `ValueError`.",
        "Before `step`.",
        "A `Stage` of `Table.stages`.",
    ]


def test_what_is_beside_a_module_and_what_a_base_has_is_found() -> None:
    resolved = part("docstrings").resolved
    modules = {
        "tree.py": "class Tree:\n    def leaves(self): ...",
        "oak.py": "from room.tree import Tree\nclass Oak(Tree):\n    a = 1",
    }
    with griffe.temporary_visited_package("room", modules, resolve_aliases=True) as package:
        oak = package["oak.Oak"]
        assert resolved(oak, ".tree.Tree") == "room.tree.Tree"
        assert resolved(package, ".tree.Tree") == "room.tree.Tree"
        assert resolved(oak, "Tree.leaves") == "room.tree.Tree.leaves"
        assert resolved(oak["a"], "leaves") == "room.tree.Tree.leaves"
        assert resolved(oak, "roots") is None


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        (
            "As in::\n\n    a = 1\n\n    if a:\n        b\n\nand so on.",
            "As in:\n\n```python\na = 1\n\nif a:\n    b\n```\n\nand so on.",
        ),
        ("Ends with it::\n\n    a\n", "Ends with it:\n\n```python\na\n```"),
        (
            "====  ===\nmode  x|y\n====  ===\na     b\n      c\nd     e\n====  ===",
            "| mode | x\\|y |\n| --- | --- |\n| a | b c |\n| d | e |",
        ),
        ("=  ====\na  b c\n=  ====\nafter", "|  |  |\n| --- | --- |\n| a | b c |\nafter"),
        ("a == b and ``c::d``", "a == b and ``c::d``"),
    ],
)
def test_blocks_and_tables_become_markdown(text: str, markdown: str) -> None:
    with griffe.temporary_visited_module("", module_name="room") as module:
        assert part("docstrings").translated(text, module).strip() == markdown
