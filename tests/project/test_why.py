"""The page that stands beside the peers: short, and every cell of its table has a source."""

from __future__ import annotations

import re

from tests.support.source import ROOT

PAGE = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) <= 900


def test_every_cell_has_a_source() -> None:
    """A link to a page of ours, to a thread, or to a file of a peer at a commit."""
    head, _, *rows = re.findall(r"^\|(.*)\|$", PAGE, re.MULTILINE)
    peers = len(head.split("|"))
    assert len(rows) > 5
    for row in rows:
        cells = row.split(" | ")
        assert len(cells) == peers
        for cell in cells[1:]:
            for link in re.findall(r"\]\((https:[^)]*)\)", cell):
                assert re.search(r"/issues/\d+$|/(?:blob|tree|commit)/[0-9a-f]{40}(?:/|$)", link), link
            assert "](" in cell, cell
