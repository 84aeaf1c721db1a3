"""Records as accounts in words: each round's deal, what is said and seen at each ply, and the settlement."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nainjaune_env.core.cards import by_rank
from nainjaune_env.core.event_texts import EventTexts
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.language import event_texts, language_of
from nainjaune_env.games.nain_jaune.language.wording import Words
from nainjaune_env.games.nain_jaune.records.replay import Replay, open_recorded, recorded_rounds


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns the account of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part``: one round only, from 1.

    Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have,
    :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
    """
    texts = language_of(language)
    words = texts.words
    names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
    seats = SeatNames(words, setup.players, record["agents"])
    lines = [words.title.format(preset=record["preset"], players=setup.players)]
    for number, written in recorded_rounds(record, part):
        replay = open_recorded(setup, written, number)
        lines += ["", words.round.format(number=number, dealer=seats.labels[written["dealer"]])]
        lines += (f"  {line}" if line else "" for line in _round(replay, written, words, seats, event_texts(texts, seats), names))
    if part in (None, len(record["rounds"])):
        winners, text = record["winners"], words.wins if len(record["winners"]) == 1 else words.shared
        won = text.format(winners=words.listed(names[seat] for seat in winners), chips=max(record["stacks"]))
        lines += ["", f"{words.result}{words.colon}{won}"]
    return "\n".join(lines) + "\n"


def _round(
    replay: Replay, written: Mapping[str, Any], words: Words, seats: SeatNames, texts: EventTexts, names: Sequence[str]
) -> Iterator[str]:
    """Yields the lines of a recorded round: the deal, what was played, and the settlement."""
    yield f"{words.stacks}{words.colon}{seats.by_seat(written['stacks'])}"
    yield f"{words.pots}{words.colon}{words.by_pot(replay.pots)}"
    for seat, hand in enumerate(written["hands"]):
        yield f"{words.hand.format(seat=seats.labels[seat])}{words.colon}{words.signs(by_rank(hand))}"
    yield f"{words.talon}{words.colon}{words.signs(by_rank(written['talon']))}"
    yield ""
    heard = itertools.chain.from_iterable(texts.tell(replay.play(move)) for _, move in written["moves"])
    for actor, said in itertools.groupby(heard, key=lambda utterance: utterance.seat):
        if actor is None:
            yield from (text for _, text in said)
        else:
            yield f"{names[actor]}{words.colon}{' '.join(text for _, text in said)}"
    yield ""
    yield words.settling
    yield from (f"  {line}" for line in texts.settlement)
    stacks = (f"{now} ({now - then:+d})" for now, then in zip(replay.stacks, written["stacks"], strict=True))
    yield f"{words.after}{words.colon}{seats.by_seat(stacks)}"
    yield f"{words.pots_after}{words.colon}{words.by_pot(replay.pots)}"
