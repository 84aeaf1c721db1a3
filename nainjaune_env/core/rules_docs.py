"""A game's knobs and presets as Markdown tables, made from the rules' dataclass so that no page can drift from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from typing import Any

from nainjaune_env.core.rules import MAX_NUMBER, Preset, Rules


def markdown_table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; bars in the cells are escaped."""
    lines = [[str(cell).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def knob_table(rules: type[Rules]) -> str:
    """What each knob may be, what it means, and the article it belongs to."""
    rows = [(f"`{f.name}`", _values(f), f.metadata["meaning"], f.metadata["source"]) for f in fields(rules)]
    return markdown_table(("knob", "values", "meaning", "article"), rows)


def preset_table(presets: Mapping[str, Preset]) -> str:
    """Every knob's value on every sheet, and the numbers of seats each allows."""
    sheets = list(presets.values())
    rows: list[list[str]] = [["players", *(f"{sheet.players[0]}–{sheet.players[-1]}" for sheet in sheets)]]
    for name in sheets[0].rules.names():
        rows.append([f"`{name}`", *(_spelled(getattr(sheet.rules, name)) for sheet in sheets)])
    rows.append(["sheet", *(sheet.source for sheet in sheets)])
    return markdown_table(["knob", *(f"`{name}`" for name in presets)], rows)


def _spelled(value: object) -> str:
    return f"`{value}`"


def _values(f: Field[Any]) -> str:
    about = f.metadata
    if about["kind"] == "word":
        return ", ".join(map(_spelled, about["choices"]))
    if about["kind"] == "flag":
        return f"{_spelled(True)}, {_spelled(False)}"
    most = f" to {about['high']}" if about["high"] < MAX_NUMBER else ""
    return f"a whole number from {about['low']}{most}" + (f", or {_spelled(None)}" if about["optional"] else "")
