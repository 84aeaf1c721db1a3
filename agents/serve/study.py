"""What viewers ask about positions: advice at their turn; when everything is played reviews, positions and further tables."""

from __future__ import annotations

from collections import OrderedDict

from ..advice.review import Decision
from .advising import Advisers, advice_steps
from .live_table import LiveTable
from .protocol import Advise, Position, Refusal, Review
from .reviewing import Played, position_steps, review_steps, value_steps
from .searches import Search
from .store import DEAL, Store
from .tokens import Pass

MAX_REVIEWED = 8
"""Tables whose reviews are kept in memory."""


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
