"""A game's knobs and presets as Markdown tables, made from the rules' dataclass so that no page can drift from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from typing import Any

from nainjaune_env.core.rules import MAX_NUMBER, Preset, Rules


def markdown_table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Returns a Markdown table; bars in the cells are escaped."""
    lines = [[str(cell).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def knob_table(rules: type[Rules]) -> str:
    """Returns a table of what each knob may be, what it means, and the article it belongs to."""
    rows = [(f"`{f.name}`", _values(f), f.metadata["meaning"], f.metadata["source"]) for f in fields(rules)]
    return markdown_table(("knob", "values", "meaning", "article"), rows)


def preset_table(presets: Mapping[str, Preset]) -> str:
    """Returns a table of every knob's value in every preset, and the numbers of seats each allows."""
    columns = list(presets.values())
    rows: list[list[str]] = [["players", *(f"{preset.players[0]}–{preset.players[-1]}" for preset in columns)]]
    for name in columns[0].rules.names():
        rows.append([f"`{name}`", *(f"`{getattr(preset.rules, name)}`" for preset in columns)])
    rows.append(["sheet", *(preset.source for preset in columns)])
    return markdown_table(["knob", *(f"`{name}`" for name in presets)], rows)


def _values(f: Field[Any]) -> str:
    about = f.metadata
    if about["kind"] == "word":
        return ", ".join(f"`{choice}`" for choice in about["choices"])
    if about["kind"] == "flag":
        return "`True`, `False`"
    most = f" to {about['high']}" if about["high"] < MAX_NUMBER else ""
    return f"a whole number from {about['low']}{most}" + (", or `None`" if about["optional"] else "")
