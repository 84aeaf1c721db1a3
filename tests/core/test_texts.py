"""Texts of a language, read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from nainjaune_env.core.texts import CommonWords, read_texts, sentence


@dataclass(frozen=True)
class Words:
    yes: tuple[str, ...]
    topics: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Language:
    title: str
    words: Words


WRITTEN = """\
title = "Jeu"
[words]
yes = ["o", "oui"]
topics = { piles = ["piles", "les cartes"] }
"""


def read(folder: Path, text: str) -> Language:
    file = folder / "fr.toml"
    file.write_text(text, encoding="utf-8")
    return read_texts(Language, file)


def test_tables_become_dataclasses_and_lists_tuples(tmp_path: Path) -> None:
    assert read(tmp_path, WRITTEN) == Language("Jeu", Words(("o", "oui"), {"piles": ("piles", "les cartes")}))


@pytest.mark.parametrize(
    ("written", "name"),
    [(WRITTEN.replace('title = "Jeu"\n', ""), "title"), (WRITTEN + "no = []\n", "no"), (WRITTEN.replace("yes", "y"), "y")],
)
def test_a_text_too_few_or_too_many_is_refused(tmp_path: Path, written: str, name: str) -> None:
    with pytest.raises(TypeError, match=f"'{name}'"):
        read(tmp_path, written)


def test_counts_and_lists_in_words() -> None:
    words = CommonWords("", "", "", "", "", "", " et ", "", cards=("carte", "cartes"), singular=(0, 1))
    assert [words.counted(number, words.cards) for number in (0, -1, 2)] == ["0 carte", "-1 carte", "2 cartes"]
    assert [words.listed("abc"[:size]) for size in (1, 2, 3)] == ["a", "a et b", "a, b et c"]


def test_a_sentence_begins_with_a_capital() -> None:
    assert sentence("à la place 1 de jouer, As en main") == "À la place 1 de jouer, As en main"
