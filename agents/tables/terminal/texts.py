"""The texts of the dialogue that every game shares, in English and French; a game's own texts come from its ``Speaker``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.texts import read_texts


@dataclass(frozen=True)
class Texts:
    """One language. Texts in braces are filled in by ``str.format``."""

    you: str
    seat: str
    welcome: str
    seed: str
    help_hint: str
    since: str
    so_far: str
    nothing_since: str
    prompt: str
    confirm: str
    taken_back: str
    confirming: str
    not_confirming: str
    undone: str
    no_undo: str
    leave: str
    yes: tuple[str, ...]
    stay: str
    look: str
    look_until: str
    looked: str
    narrow: str
    round_over: str
    this_round: str
    in_all: str
    next_round: str
    standings: str
    wins: str
    share: str
    joiner: str
    """Joins the last two items of a list."""
    recorded: str
    left: str
    unfinished: str
    again: str
    kept: str
    waiting: str
    goes_on: str
    hint: str
    no_hint: str
    keys: str
    help_words: tuple[str, ...]
    """What may be typed for a command; help shows the first. Likewise below."""
    quit_words: tuple[str, ...]
    hint_words: tuple[str, ...]
    undo_words: tuple[str, ...]
    last_words: tuple[str, ...]
    table_words: tuple[str, ...]
    confirm_words: tuple[str, ...]
    help_does: str
    quit_does: str
    hint_does: str
    undo_does: str
    last_does: str
    table_does: str
    confirm_does: str


TEXTS: Mapping[str, Texts] = read_texts(Texts, Path(__file__).parent, "texts_{language}.toml")


def any_language(command: str) -> frozenset[str]:
    """Returns what may be typed for a command (``help``, ``quit`` …) in any language."""
    return frozenset(word for texts in TEXTS.values() for word in getattr(texts, f"{command}_words"))
