"""A record narrated for people, trick by trick: who plays which card, and who takes them. The numbers come from replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import Called, SeatNames
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.language import Words, event_texts, language_of
from nainjaune_env.games.batasaurus.records.replay import check_part, open_record
from nainjaune_env.games.batasaurus.rules import rules_of

ROW = 6
"""Slots to a line."""


def piles_of(words: Words, seats: SeatNames, left: Sequence[int], piles: Sequence[int]) -> list[str]:
    """Returns the end of the game (B3.1): the cards ``left`` in front of each seat, and the final ``piles``."""
    lines = [words.titled(words.left, seats.by_seat(left))] if any(left) else []
    return [*lines, words.titled(words.piles, seats.by_seat(piles))]


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns the narration of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part`` is None or 1.

    Raises :class:`RecordError` where the record has no such round, :class:`RulesError` for an unknown language.
    """
    texts = language_of(language)
    words = texts.words
    check_part(part)
    seats, replay = SeatNames(words, setup.players, record["agents"]), open_record(setup, record)
    names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
    dinosaurs = rules_of(setup).dinosaurs
    lines = [words.title.format(preset=record["preset"], players=setup.players, dinosaurs=dinosaurs), ""]
    lines += _layouts(setup, record["layouts"], words, seats)
    replay.memorise()
    heard, number = event_texts(texts, seats), 0
    for seat, slot in record["moves"]:
        if int(replay.table.tricks) != number:
            number = int(replay.table.tricks)
            lines += ["", words.trick.format(number=number, seat=seats[seat])]
        for actor, text in heard.tell(replay.step(slot)):
            lines.append(f"  {text}" if actor is None else f"  {words.titled(names[actor], text)}")
    winners = [names[seat] for seat in record["winners"]]
    text = words.wins if len(winners) == 1 else words.shared
    result = text.format(winners=Called(words.listed(winners)), cards=words.count(max(replay.piles)))
    lines += ["", *piles_of(words, seats, replay.left, replay.piles), words.titled(words.result, result)]
    return "\n".join(lines) + "\n"


def _layouts(setup: Setup, layouts: Sequence[Sequence[int]], words: Words, seats: SeatNames) -> list[str]:
    if not must_remember(rules_of(setup)):
        return _slots(words.sorted, layouts[0], words)
    lines = []
    for seat, layout in enumerate(layouts):
        lines += _slots(words.slots.format(seat=seats.labels[seat]), layout, words)
    return [*lines, f"  {words.memorise}"]


def _slots(title: str, layout: Sequence[int], words: Words) -> list[str]:
    texts = [f"{slot} {words.named(value)}" for slot, value in enumerate(layout)]
    rows = [texts[start : start + ROW] for start in range(0, len(texts), ROW)]
    return [f"  {title}{words.colon}".rstrip(), *(f"    {' · '.join(row)}" for row in rows)]
