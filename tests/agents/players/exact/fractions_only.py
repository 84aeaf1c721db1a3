"""Batasaurus for two seats that know their cards, from the rules' text in plain Python, and matrix games: all in fractions.

Nothing is shared with what it is held against: sets are tuples of values, plays are followed card by card, and a matrix game is
solved by trying supports (as Nash equilibria are found by hand), each held against the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

Cards = tuple[int, ...]
Game = Sequence[Sequence[Fraction]]


def linear(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """The one solution of equations given as rows of coefficients and right-hand side; None where there is not just one."""
    rows, size = [list(row) for row in matrix], len(matrix)
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def indifferent(game: Game, rows: Cards, columns: Cards) -> tuple[list[Fraction], Fraction] | None:
    """A mix of ``rows`` against which all ``columns`` cost the same, and that cost; None where there is not just one."""
    equations = [[*(game[i][j] for i in rows), Fraction(-1), Fraction(0)] for j in columns]
    solution = linear([*equations, [*(Fraction(1) for _ in rows), Fraction(0), Fraction(1)]])
    return (solution[:-1], solution[-1]) if solution and min(solution[:-1]) >= 0 else None


def supports(m: int, n: int) -> Iterator[tuple[Cards, Cards]]:
    for size in range(1, min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size):
                yield rows, columns


def matrix_value(game: Game) -> Fraction:
    """The value, by supports of equal size (Shapley and Snow 1950: some pair of them is always optimal)."""
    m, n = len(game), len(game[0])
    turned = [[-game[i][j] for i in range(m)] for j in range(n)]
    for rows, columns in supports(m, n):
        for_rows, for_columns = indifferent(game, rows, columns), indifferent(turned, columns, rows)
        if for_rows is None or for_columns is None:
            continue
        (x, value), (y, cost) = for_rows, for_columns
        secured = min(sum((p * game[i][j] for p, i in zip(x, rows, strict=True)), Fraction(0)) for j in range(n))
        conceded = max(sum((q * game[i][j] for q, j in zip(y, columns, strict=True)), Fraction(0)) for i in range(m))
        if secured == value == -cost == conceded:
            return value
    raise AssertionError(f"no optimal mixes: {game}")


def without(cards: Cards, card: int) -> Cards:
    return tuple(c for c in cards if c != card)


@cache
def lead(leader: Cards, other: Cards) -> Fraction:
    """Net cards to the leader from here on, at the start of a trick (B2.1)."""
    if not leader:
        return Fraction(0)
    return max(min(after(leader, other, v, w, 0) for w in other) for v in leader)


@cache
def battle(leader: Cards, other: Cards, lying: int) -> Fraction:
    """Net cards to the leader from here on, where both are about to commit a card hidden (B2.3)."""
    if not leader:
        return Fraction(0)  # shared, or nobody's (B2.4)
    return matrix_value([[after(leader, other, v, w, lying) for w in other] for v in leader])


def after(leader: Cards, other: Cards, v: int, w: int, lying: int) -> Fraction:
    """Net cards to the leader when ``v`` and ``w`` join the cards ``lying`` there and are seen."""
    mine, theirs, lying = without(leader, v), without(other, w), lying + 2
    if v == w:
        return battle(mine, theirs, lying)
    return lying + lead(mine, theirs) if v > w else -lying - lead(theirs, mine)


def game_value(dinosaurs: int) -> Fraction:
    """Net cards to the first leader."""
    everything = tuple(range(1, dinosaurs + 1))
    return lead(everything, everything)
