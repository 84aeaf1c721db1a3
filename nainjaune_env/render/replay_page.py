"""A recorded match as one HTML file: every position from every seat, to go through in a browser or a notebook."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import RulesError
from nainjaune_env.records.record import setup_of, show_record, shown_names, verify_record

TEMPLATE = Path(__file__).with_name("replay_page.html")
SCRIPT = Path(__file__).with_name("replay.js")
"""Shows the data; the page of ``nainjaune serve`` has it, too."""
WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "round-back": "|◀ round", "decision-back": "◀◀ decision", "back": "◀ ply", "on": "ply ▶", "decision-on": "decision ▶▶",
        "round-on": "round ▶|", "save": "Save the picture", "view-label": "Seen by", "text-label": "The round in words",
        "ply": "Ply", "where": "Round {round}, ply {ply} of {of}", "film": "Save a film of the round",
        "auto": "▶ Play", "pause": "Pause",
        "all": "everybody: all cards", "seat": "seat {seat} ({name})",
    },
    "fr": {
        "round-back": "|◀ manche", "decision-back": "◀◀ décision", "back": "◀ coup", "on": "coup ▶", "decision-on": "décision ▶▶",
        "round-on": "manche ▶|", "save": "Enregistrer l'image", "view-label": "Vu par", "text-label": "La manche en mots",
        "ply": "Coup", "where": "Manche {round}, coup {ply} sur {of}",
        "film": "Enregistrer un film de la manche", "auto": "▶ Lecture", "pause": "Pause",
        "all": "tous : toutes les cartes",
        "seat": "place {seat} ({name})",
    },
}  # fmt: skip
"""The page's own words, by language."""


def replay_data(record: Mapping[str, Any], language: str, *, scenes: bool = False) -> bytes:
    """Verifies a ``record``, and returns its pictures and texts as gzipped JSON.

    With ``scenes`` there are scenes instead of pictures: for each the numbers of its values, in the order of ``fields``.
    Raises :class:`~nainjaune_env.core.errors.RecordError` for a record that is not right, and :class:`RulesError` for a game
    without pictures.
    """
    rounds = verify_record(record)
    setup = setup_of(record)
    if setup.game.pictures is None:
        raise RulesError(f"The game {setup.game.name!r} has no pictures.")
    texts, names = WORDS[language], shown_names(record)
    seats: list[int | None] = [None, *range(setup.players)]
    numbers: dict[str, int] = {}
    """The parts of pictures between two ``<``, or the values of scenes as JSON, with their numbers; most come many times."""

    def numbered(parts: Iterable[str]) -> list[int]:
        return [numbers.setdefault(part, len(numbers)) for part in parts]

    fields: list[str] = []
    views: list[dict[str, Any]] = []
    lengths: list[int] = []
    for seat in seats:
        pictures: list[list[int]] = []
        lengths = []
        for part in range(1, rounds + 1):
            before = len(pictures)
            if scenes:
                for seen in setup.game.pictures.scenes(setup, record, seat, part=part):
                    values = dataclasses.asdict(seen)
                    fields = list(values)
                    pictures.append(numbered(map(json.dumps, values.values())))
            else:
                film = setup.game.pictures.film(setup, record, seat, part=part, language=language, names=names)
                pictures += [numbered(svg.split("<")) for svg in film]
            lengths.append(len(pictures) - before)
        name = texts["all"] if seat is None else texts["seat"].format(seat=seat, name=names[seat])
        views.append({"name": name, "pictures": pictures})
    firsts = [sum(lengths[:part]) for part in range(rounds)]
    plies = [] if setup.game.advice is None else setup.game.advice.plies(setup, record)
    data = {
        "title": f"{setup.game.title} · {setup.preset} · {', '.join(names)}",
        "drawing": setup.game.name,
        "names": list(names),
        "fields": fields,
        "parts": [json.loads(part) for part in numbers] if scenes else list(numbers),
        "views": views,
        "rounds": [{"first": first, "pictures": length} for first, length in zip(firsts, lengths, strict=True)],
        "decisions": [firsts[ply.part - 1] + ply.number - 1 for ply in plies],
        "texts": [show_record(record, language, part) for part in range(1, rounds + 1)],
        "words": texts,
    }
    return gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)


def replay_page(record: Mapping[str, Any], language: str) -> str:
    """Returns the page of a ``record``, which needs no other file and no network; raises as :func:`replay_data` does."""
    packed = replay_data(record, language)
    data = json.dumps(base64.b64encode(packed).decode())
    script = SCRIPT.read_text(encoding="utf-8")
    title = html.escape(json.loads(gzip.decompress(packed))["title"])
    values = {"LANGUAGE": language, "SCRIPT": script, "DATA": data, "TITLE": title}
    page = TEMPLATE.read_text(encoding="utf-8")
    for name, value in values.items():
        page = page.replace(f"@{name}@", value)
    return page
