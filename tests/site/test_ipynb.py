"""Notebooks as Markdown."""

from __future__ import annotations

import json

import pytest

from .building import part


def notebook(*outputs: dict[str, object]) -> str:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "See [code](../a.py).\n"]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": list(outputs)},
    ]
    return json.dumps({"nbformat": 4, "cells": cells})


@pytest.mark.parametrize(
    ("output", "markdown"),
    [
        ({"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n"]}, "```text\nred\n```"),
        ({"output_type": "execute_result", "data": {"text/plain": ["x\n", "```"]}}, "````text\nx\n```\n````"),
        (
            {"output_type": "display_data", "data": {"text/plain": "<Figure 1>", "image/png": "iVBO\nRw=="}},
            '<img alt="&lt;Figure 1&gt;" src="data:image/png;base64,iVBORw==">',
        ),
        (
            {"output_type": "display_data", "data": {"text/plain": "", "image/svg+xml": "<svg>\n\n</svg>"}},
            "<figure>\n<svg>\n</svg>\n</figure>",
        ),
        (
            {"output_type": "execute_result", "data": {"text/plain": "a", "text/html": ["<b>\n", " \n", "</b>"]}},
            "<div>\n<b>\n</b>\n</div>",
        ),
        ({"output_type": "display_data", "data": {"text/markdown": "**a**", "application/json": {}}}, "**a**"),
    ],
)
def test_a_notebook_becomes_a_page(output: dict[str, object], markdown: str) -> None:
    page = part("ipynb").markdown_of(notebook(output))
    assert page == f"# Title\nSee [code](../a.py).\n\n```python\na = 1\na\n```\n\n{markdown}\n"


def test_a_notebook_that_failed_or_is_of_another_kind_is_refused() -> None:
    markdown_of = part("ipynb").markdown_of
    with pytest.raises(ValueError, match="without an error; it has KeyError: 1"):
        markdown_of(notebook({"output_type": "error", "ename": "KeyError", "evalue": "1"}))
    with pytest.raises(ValueError, match="format 4, not 3"):
        markdown_of('{"nbformat": 3}')
