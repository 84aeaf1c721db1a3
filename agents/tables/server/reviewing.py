"""What viewers ask about positions: advice at their turn; when everything is played reviews, positions and further tables."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from nainjaune_env.records.record import setup_of

from ...study.advice.loaded import Advisers
from ...study.advice.models import is_advised, strongest
from ...study.advice.playouts import advice_hooks_of
from ...study.advice.reasons import why
from ...study.advice.review import Decision, Pick, Total, pick, review, with_mistakes
from ...study.advice.to_text import interval
from .advising import advice_steps
from .live_table import LiveTable
from .protocol import Advise, Position, Refusal, Review
from .searches import Search
from .settings import TableSettings
from .store import DEAL, Pass, Store
from .texts import known_name
from .views import view

CHOOSING = 500
"""Deals in which the best move of a decision is found, as of ``nainjaune analyse``."""
MEASURING = 2000
"""Other deals in which it is compared with the move played."""
MAX_REVIEWED = 8
"""Tables whose reviews are kept in memory."""


@dataclass(frozen=True)
class Played:
    """A table at which everything is played."""

    live: LiveTable
    plies: Sequence[int]
    """All of them, deals included."""

    def at(self, number: int) -> LiveTable:
        """Returns a copy of the table with its first ``number`` plies, at which every seat is a person's."""
        n = self.live.settings.setup.players
        settings = structs.replace(self.live.settings, agents=(None,) * n, every_ply=True)
        live = LiveTable(settings, [None] * n, _keep_nothing)
        live.replay(self.plies[:number])
        return live

    def decisions(self) -> Iterator[tuple[int, Pick]]:
        """Yields all decisions in order, each after the number of plies before it."""
        live = self.at(0)
        numbers = []
        for number, action in enumerate(self.plies):
            if not live.table.round_over and len(live.table.legal) > 1:
                numbers.append(number)
            live.replay([action])
        yield from zip(numbers, pick(self.live.records), strict=True)


def _keep_nothing(number: int, action: int) -> None:
    """Keeps no ply: the table of a review is not played on."""


def position_steps(played: Played, number: int, language: str, you: int | None) -> Iterator[dict[str, Any]]:
    """Yields one message: the position after ``number`` plies as its seat to act saw it; ``you`` is the seat of the reader."""
    live = played.at(number)
    yield {**view(live, live.table.at_turn, language, you), "type": "position", "action": played.plies[number]}


def value_steps(advisers: Advisers, played: Played, number: int, language: str) -> Iterator[dict[str, Any]]:
    """Yields advice on the position after ``number`` plies, from what its seat to act could know then."""
    yield from advice_steps(advisers, played.live.settings.setup, played.at(number).table.position, number, language)


def review_steps(
    advisers: Advisers, played: Played, seat: int, language: str, known: MutableMapping[int, list[tuple[int, Decision]]]
) -> Iterator[dict[str, Any]]:
    """Yields messages on the progress of the review of a seat's decisions, and at last one with the review.

    ``known`` has the reviews by seat that are finished; this one is added.
    """
    model, adviser = advisers.get(setup_of(played.live.records[0]))
    if seat not in known:
        seats = [(number, one) for number, one in played.decisions() if int(one.ply.table.seat) == seat]
        reviewed: list[Decision] = []
        for done, (_, one) in enumerate(seats):
            yield {"type": "progress", "seat": seat, "done": done, "of": len(seats)}
            reviewed += review([one], lambda setup: adviser, choosing=CHOOSING, measuring=MEASURING, seed=0)
        known[seat] = list(zip([number for number, _ in seats], with_mistakes(reviewed), strict=True))
    costliest = sorted(known[seat], key=lambda each: -each[1].regret)
    total = Total.of([one for _, one in costliest])
    yield {
        "type": "review",
        "seat": seat,
        "unit": advice_hooks_of(played.live.settings.setup.game).UNITS[language],
        "model": model,
        "deals": MEASURING,
        "total": interval(total.regret, total.error, language).lstrip("+"),
        "mistakes": total.mistakes,
        "decisions": [_decision(number, one, language) for number, one in costliest],
    }


def _decision(number: int, one: Decision, language: str) -> Mapping[str, Any]:
    setup, ply = one.pick.setup, one.pick.ply
    hooks = advice_hooks_of(setup.game)
    return {
        "number": number,
        "round": one.pick.match - 1 + ply.part,
        "move": ply.number,
        "kind": hooks.KINDS[one.kind].title[language],
        "played": hooks.named(ply.table, ply.action, language),
        "best": hooks.named(ply.table, one.best, language),
        "same": one.best == ply.action,
        "cost": interval(one.regret, one.error, language).lstrip("+"),
        "mistake": one.mistake,
        "reason": None if one.advice is None else why(setup, ply.table, one.advice, 0, ply.action, language),
    }


def against_agents(settings: TableSettings, seat: int, reader: str) -> TableSettings:
    """Returns the settings of a table with the same deals and ``reader`` alone in ``seat``, advised where there is advice.

    Agents stay, by their names; the strongest takes the place of other persons.
    """
    opponent = strongest(settings.setup)
    agents = [agent or opponent for agent in settings.agents]
    known = known_name(settings.setup.game.name, opponent)
    called = [name if agent else known for name, agent in zip(settings.names, settings.agents, strict=True)]
    every_ply = settings.every_ply and len(settings.persons) == 1

    def seated(person: str | None, others: Sequence[str]) -> tuple[Any, ...]:
        return (*others[:seat], person, *others[seat + 1 :])

    names, advice = seated(reader, called), is_advised(settings.setup)
    return structs.replace(settings, names=names, agents=seated(None, agents), every_ply=every_ply, advice=advice)


class Study:
    """Makes the searches that messages ask for; one object for a server."""

    def __init__(self, store: Store, advisers: Advisers) -> None:
        self._advisers = advisers
        self._store = store
        self._reviews: OrderedDict[str, dict[int, list[tuple[int, Decision]]]] = OrderedDict()
        """By table and seat, the finished ones."""

    def search(self, case: Advise | Review | Position, allowed: Pass, live: LiveTable, language: str) -> Search:
        """Returns the search that a viewer of the table ``live`` asks for; raises :class:`Refusal`."""
        if not isinstance(case, Position) and not self._advisers.possible(live.settings.setup):
            raise Refusal("must_remember")
        if isinstance(case, Advise) and not live.over:
            return self._advice(case.number, allowed, live, language)
        played = self.played(allowed, live)
        if isinstance(case, Review):
            if case.seat >= live.settings.setup.players:
                raise Refusal("no_seat")
            return Search(review_steps(self._advisers, played, case.seat, language, self._known(allowed)), long=True)
        if case.number >= len(played.plies) or played.plies[case.number] == DEAL:
            raise Refusal("no_position")
        if isinstance(case, Position):
            return Search(position_steps(played, case.number, language, allowed.seat))
        return Search(value_steps(self._advisers, played, case.number, language))

    def played(self, allowed: Pass, live: LiveTable) -> Played:
        """Returns all that was played; raises :class:`Refusal` before the end: it has the seed and the cards of all seats."""
        if not live.over:
            raise Refusal("not_over")
        assert allowed.table is not None
        return Played(live, self._store.plies(allowed.table))

    def _advice(self, number: int, allowed: Pass, live: LiveTable, language: str) -> Search:
        if allowed.seat is None:
            raise Refusal("not_player")
        if not live.settings.advice:
            raise Refusal("no_advice")
        if number != live.number:
            raise Refusal("stale")
        if not live.persons_turn or live.table.at_turn != allowed.seat:
            raise Refusal("not_your_turn")
        return Search(advice_steps(self._advisers, live.settings.setup, live.table.position, number, language))

    def _known(self, allowed: Pass) -> dict[int, list[tuple[int, Decision]]]:
        assert allowed.table is not None
        known = self._reviews.setdefault(allowed.table, {})
        self._reviews.move_to_end(allowed.table)
        if len(self._reviews) > MAX_REVIEWED:
            self._reviews.popitem(last=False)
        return known
