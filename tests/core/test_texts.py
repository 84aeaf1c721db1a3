"""Texts of a language, read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.texts import Called, CommonWords, SeatNames, grouped, read_texts, sentence


@dataclass(frozen=True)
class Words:
    yes: tuple[str, ...]
    topics: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Language:
    title: str
    words: Words


FRENCH = CommonWords(
    title="", seat="", seat_short="place {seat}", seat_called="la place {seat}", seat_named="{name} (place {seat})", you="vous",
    result="", wins="", shared="", joiner=" et ", colon=" : ", language="fr", cards=("carte", "cartes"), singular=(0, 1),
)  # fmt: skip
WRITTEN = """\
title = "Jeu"
[words]
yes = ["o", "oui"]
topics = { piles = ["piles", "les cartes"] }
"""


def read(folder: Path, text: str) -> Language:
    for language in LANGUAGES:
        (folder / f"{language}.toml").write_text(text, encoding="utf-8")
    return read_texts(Language, folder)["fr"]


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
    numbers = [FRENCH.counted(number, FRENCH.cards) for number in (0, -1, 2, -1234)]
    assert numbers == ["0 carte", "-1 carte", "2 cartes", "-1\u202f234 cartes"]
    assert [FRENCH.listed("abc"[:size]) for size in (1, 2, 3)] == ["a", "a et b", "a, b et c"]
    assert [grouped(1_022, "en"), grouped(999, "fr")] == ["1,022", "999"]


def test_french_has_narrow_spaces_that_do_not_break(tmp_path: Path) -> None:
    for language in LANGUAGES:
        text = 'title = "« Oui » ; non : 5 % ! ? 1 — 2"\n'
        (tmp_path / f"{language}.toml").write_text(WRITTEN.replace('title = "Jeu"\n', text), encoding="utf-8")
    read = read_texts(Language, tmp_path)
    assert read["en"].title == "« Oui » ; non : 5 % ! ? 1 — 2"
    assert read["fr"].title == "«\u202fOui\u202f»\u202f; non\u202f: 5\u202f%\u202f!\u202f? 1 — 2"


def test_seats_are_called_by_name_and_the_reader_you() -> None:
    """Of several players with one name each has the number of their seat; verbs agree."""
    seats = SeatNames(FRENCH, 3, ["Zoé", "tally", "tally"], you=0)
    assert seats.labels == ["vous", "tally (place 1)", "tally (place 2)"]
    text = "{seat} {to:|vous }{seat:paie|payez} 5{to: à *|}."
    told = [text.format(seat=seats[one], to=seats[other]) for one, other in ((0, 1), (1, 0), (2, 1))]
    assert [seats.sentence(one) for one in told] == [
        "Vous payez 5 à tally (place 1).", "tally (place 1) vous paie 5.", "tally (place 2) paie 5 à tally (place 1)."
    ]  # fmt: skip
    assert f"{seats.listed([2, 0]):gagnent|gagnez}" == "gagnez"
    assert [seats.listed([2, 0]), seats.listed([1, 2])] == ["vous et tally (place 2)", "tally (place 1) et tally (place 2)"]
    assert seats.by_seat([1, -2, 3]) == "vous 1 · tally (place 1) −2 · tally (place 2) 3"


def test_seats_without_names_have_numbers() -> None:
    seats = SeatNames(FRENCH, 2)
    assert (seats.labels, seats[1]) == (["place 0", "place 1"], "la place 1")
    assert seats.sentence(f"{seats[1]} a la main") == "La place 1 a la main"


def test_a_name_is_never_part_of_a_form() -> None:
    assert "{:* gagne|gagnez}".format(Called("a|b*{c}")) == "a|b*{c} gagne"


def test_a_sentence_begins_with_a_capital() -> None:
    assert sentence("à la place 1 de jouer, As en main") == "À la place 1 de jouer, As en main"
