"""``LazyList``: a list whose items are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_UNMADE: Any = object()
"""Stands for an item that has not been read."""


class LazyList(list[T], Generic[T]):
    """A list of ``make(0)``, …, ``make(length - 1)``; each is made when it is first read, and kept.

    A single item is made by itself. Every other use of the list, such as a loop or a copy, makes all of them first. So it can
    replace a plain list anywhere, and where most items are never read it costs next to nothing.
    """

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        super().__init__([_UNMADE] * length)
        self._make: Callable[[int], T] | None = make

    def fill(self) -> None:
        """Makes all items that have not been read."""
        make, self._make = self._make, None
        if make is not None:
            for i, item in enumerate(super().__iter__()):
                if item is _UNMADE:
                    super().__setitem__(i, make(i))

    def __getitem__(self, key: Any) -> Any:
        """Returns an item, or several as a plain list."""
        if self._make is None:
            return super().__getitem__(key)
        if isinstance(key, slice):
            self.fill()
            return super().__getitem__(key)
        item = super().__getitem__(key)
        if item is _UNMADE:
            item = self._make(range(len(self))[key])
            super().__setitem__(key, item)
        return item

    def __setitem__(self, key: Any, value: Any) -> None:
        """Replaces an item, or several."""
        if isinstance(key, slice):  # it may move the others
            self.fill()
        super().__setitem__(key, value)

    def __radd__(self, other: list[Any]) -> list[Any]:
        """Returns ``other`` and then the items, a plain list: ``list.__add__`` would read the items as they are kept."""
        return [*other, *self]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Copies and pickles are plain lists."""
        return list, ([*self],)


def _after_filling(name: str) -> Callable[..., Any]:
    method = getattr(list, name)

    def filled(self: LazyList[Any], *args: Any, **settings: Any) -> Any:
        self.fill()
        return method(self, *args, **settings)

    filled.__name__, filled.__doc__ = name, f"See ``list.{name}``."
    return filled


# CPython's own functions in C read a subclass of list by its iterator, so its methods are all that read or move items
_READS_NOTHING = {"__class_getitem__", "__getattribute__", "__init__", "__len__", "__new__", "__sizeof__", "clear"}
for _name, _method in vars(list).items():
    if callable(_method) and _name not in _READS_NOTHING and _name not in vars(LazyList):
        setattr(LazyList, _name, _after_filling(_name))
