"""Quotas: how many tables a link may make, and who of those that connect has a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from .protocol import Limits, Refusal
from .store import Store


class TableQuota:
    """The limits of tables. Tables that are still loading count, so that no limit is passed by many requests at once."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._loading: Counter[bytes | None] = Counter()
        """Tables that are loading, by the link that makes them; None: the host."""

    @contextmanager
    def reserve(self, link: bytes | None) -> Iterator[None]:
        """Reserves the place of a new table until it is in the store.

        ``link`` is None for a table of the host, else :meth:`Store.link_of` the token that goes on from another table. Raises
        :class:`Refusal` where there is no place.
        """
        store, limits, loading = self._store, self._limits, self._loading
        if store.num_tables() + loading.total() >= limits.tables:
            raise Refusal("too_many_tables")
        if link is not None:
            if store.num_further(link) + loading[link] >= limits.further_of_link:
                raise Refusal("too_many_of_link")
            if store.num_further() + loading.total() - loading[None] >= limits.further:
                raise Refusal("too_many_further")
        loading[link] += 1
        try:
            yield
        finally:
            loading[link] -= 1
            if not loading[link]:
                del loading[link]
