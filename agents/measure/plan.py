"""Which cells are played on which deals: what a store lacks is cut into units, played anywhere, and joined block by block."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, depends_on_batch
from nainjaune_env.core.errors import AgentError, WorkError, quoted

from ..base.settings import NonNegativeInt
from ..base.task import DEFAULT_TASK, Task
from ..players.program.counting import faults_of
from ..players.program.settings import BotSettings
from . import control_variates, one_table
from .arena.play import chunks
from .behaviour import Behaviour
from .distributed.arrays import packed, unpacked
from .distributed.identity import package_version
from .distributed.plan_fields import DealPlan, Deals, Device, Place
from .distributed.units import Executor, InProcess, Payload, Player, WorkUnit
from .edges import TABLES_AT_ONCE, TIMES_AT_ONCE
from .own_game import EpisodeKind, OwnGame, Purpose
from .player_id import player_id
from .rows import ROW, Key, Kind, Row, joined
from .store import Store, source_id
from .timing import TimedAgent


class Cell(NamedTuple):
    """A hero in a field, by their numbers, and what is stored of it."""

    hero: int
    field: int
    kind: Kind = "payoff"


class MeasurePlan(DealPlan, frozen=True):
    """Some cells on some deals. A unit is a part of the cells on some of the deals, which are played together."""

    KIND: ClassVar[str] = "measurement"

    seed: NonNegativeInt
    deals: Deals
    first: Place = 0
    task: Task = DEFAULT_TASK
    episode: EpisodeKind = "round"
    rounds: int | None = None
    device: Device = "cpu"
    purpose: Purpose = "rating"
    parts: tuple[tuple[Cell, ...], ...] = ()
    unit: Deals = ROW
    """Deals of a unit."""

    @property
    def source(self) -> OwnGame:
        """Where payoffs come from."""
        return OwnGame(self.setup, self.seed, self.task, self.episode, self.rounds, self.device, self.purpose)

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return [*dict.fromkeys(cell for part in self.parts for cell in part)]

    @property
    def total_deals(self) -> int:
        """The deals of all cells together."""
        return self.deals * len(self.cells)

    def units(self) -> Iterator[WorkUnit]:
        """Yields all units: all parts of the first deals, then of the next."""
        for at, count in chunks(self.first, self.deals, self.unit):
            for part in range(len(self.parts)):
                yield WorkUnit(part, at, count)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit: rows by the number of their cell in the part, and clocks."""
        source = self.source
        source.check(agents)
        measured = any(cell.kind == "behaviour" for cell in self.cells)
        timed = [TimedAgent(agent) for agent in agents] if measured and self.device == "cpu" else []
        players: Sequence[Agent] = timed or agents

        def play(unit: WorkUnit) -> Payload:
            cells = self.parts[unit.part]
            rows = [*_played(source, players, agents, cells, unit)]
            return {"rows": rows, "clocks": [agent.clock.taken() for agent in timed]}

        return play


def parts_of(
    agents: Sequence[Agent],
    source: OwnGame,
    *,
    pairs: Collection[tuple[int, int]],
    measure: bool = False,
    sequential: bool = False,
) -> tuple[tuple[Cell, ...], ...]:
    """Returns the parts of a cross table of ``agents``: ``pairs`` of hero and field by number, and each field alone.

    ``measure``: behaviour too. Cells with one field are played together; all cells are for a ``sequential`` test, and with two
    seats, where A in a field of B is B in a field of A, too; but not where the field plays the rounds before. Where a program
    plays, a cell is a part of its own, so that its faults are known by cell, and little is lost if it fails.
    """
    by_field: list[list[Cell]] = []
    for field in sorted({field for _, field in pairs}):
        heroes = [hero for hero, other in pairs if other == field]
        alone = Cell(field, field)
        cells = [[Cell(hero, field), *([Cell(hero, field, "behaviour")] if measure else [])] for hero in heroes]
        if any(faults_of(agents[who]) is not None for who in (field, *heroes)):
            by_field += [[alone, *cell] for cell in cells] if measure else [[alone], *cells]
        else:
            by_field.append([alone, *(cell for some in cells for cell in some)])
    if (sequential or source.seats == 2) and source.shared and not any(faults_of(agent) is not None for agent in agents):
        by_field = [[cell for part in by_field for cell in part]]
    return tuple(map(tuple, by_field))


def unit_deals(parts: Sequence[Sequence[Cell]], source: OwnGame, agents: Sequence[Agent], *, sequential: bool = False) -> int:
    """Returns the deals of a unit: as many rows as fill 8192 tables; one where a test looks or a program plays."""
    many = TIMES_AT_ONCE.get(source.device, 1)  # one that is unknown is refused later
    if sequential or any(faults_of(agent) is not None for agent in agents):
        return ROW * many
    tables = max(len(tables_of(part, source.seats)[0]) or source.seats for part in parts)
    return ROW * many * max(1, TABLES_AT_ONCE // (ROW * tables))


def make_plan(
    source: OwnGame,
    agents: Sequence[Agent],
    deals: int,
    *,
    first: int = 0,
    one_way: bool = False,
    field_last: bool = False,
    measure: bool = False,
    controlled: bool = False,
    together: bool = False,
    sequential: bool = False,
    chunk: int | None = None,
) -> MeasurePlan:
    """Returns the plan of a cross table of ``agents``, as :func:`parts_of` cuts it, on ``deals`` deals from ``first`` on.

    ``one_way``: only the first agent is a hero, in a field of each other. ``field_last``: the last agent is the only field.
    ``measure``: behaviour too. ``controlled``: with control variates. ``together``: all agents at one table, too. ``sequential``:
    whether a test looks. ``chunk``: deals of a unit (None: :func:`unit_deals`). Raises :class:`AgentError` for fewer than two
    agents or two of one name, and as control variates and one table do where they do not apply.
    """
    names = [agent.name for agent in agents]
    if len(names) < 2 or len(set(names)) < len(names):
        raise AgentError(f"Expected two or more agents of different names, not {quoted(names)}.")
    last = len(agents) - 1
    pairs = [
        (hero, field)
        for hero, field in permutations(range(len(agents)), 2)
        if not (one_way and hero > 0) and not (field_last and field != last)
    ]
    if controlled:
        for hero, field in pairs:
            control_variates.check(source.setup, agents[hero], agents[field], source.task)
        parts: tuple[tuple[Cell, ...], ...] = tuple((Cell(hero, field, "controlled"),) for hero, field in pairs)
    else:
        parts = parts_of(agents, source, pairs=pairs, measure=measure, sequential=sequential)
    if together:
        one_table.check(source, len(agents))
        parts = (*parts, (Cell(0, 0, "one table"),))
    return MeasurePlan(
        source.setup, tuple(names), source.seed, deals, first, source.task, source.episode, source.rounds, source.device,
        source.purpose, parts, chunk or unit_deals(parts, source, agents, sequential=sequential),
    )  # fmt: skip


# ---- playing a unit ----------------------------------------------------------------------------------------------------


def tables_of(cells: Sequence[Cell], n: int) -> tuple[list[tuple[int, ...]], dict[Cell, list[int]]]:
    """Returns the different seatings that ``cells`` need, and for each cell the numbers of its tables.

    These are one by the seat of the hero; of a field alone one table.
    """
    numbers: dict[tuple[int, ...], int] = {}

    def number(seating: tuple[int, ...]) -> int:
        return numbers.setdefault(seating, len(numbers))

    of_cell: dict[Cell, list[int]] = {}
    for cell in cells:
        if cell.kind not in ("payoff", "behaviour"):
            continue
        hero, field = cell.hero, cell.field
        if hero == field:
            of_cell[cell] = [number((field,) * n)]
        else:
            of_cell[cell] = [number((field,) * seat + (hero,) + (field,) * (n - 1 - seat)) for seat in range(n)]
    return [*numbers], of_cell


def _played(
    source: OwnGame, players: Sequence[Agent], plain: Sequence[Agent], cells: Sequence[Cell], unit: WorkUnit
) -> Iterator[list[Any]]:
    """Plays a unit; yields ``[cell, first, deals, columns, values, leader, sums]`` of its rows, as JSON values.

    ``players`` may be timed; control variates look into the ``plain`` ones.
    """
    at, count, n = unit.first, unit.deals, source.seats
    seating, tables = tables_of(cells, n)
    measured = [cell for cell in tables if cell.kind == "behaviour"]
    counters = np.full((len(seating), n), -1)
    alone: dict[int, int] = {}
    for number, cell in enumerate(measured):
        counters[tables[cell], range(n)] = number
        table = seating.index((cell.field,) * n)
        counters[table] = alone.setdefault(cell.field, len(measured) + len(alone))
    if seating:
        played = source.play(
            players, np.array(seating), at, count, field=cells[0].field, counters=counters if measured else None
        )  # fmt: skip
    for number, cell in enumerate(cells):
        if cell.kind == "behaviour":
            behaviour = Behaviour(source.setup)
            columns = [*tables[cell], seating.index((cell.field,) * n)]
            pair = [measured.index(cell), alone[cell.field]]
            for part in (slice(first, first + some) for first, some in chunks(0, count, 8 * ROW)):  # its numbers take memory
                assert played.plain is not None
                tallies = None if played.tallies is None else played.tallies[part][:, pair]
                behaviour.add(played.plain[part][:, columns], played.first[part], tallies)
            yield [number, at, count, 0, "", "", behaviour.sums.to_json()]
            continue
        if cell.kind == "payoff":
            values = seat_values(played.payoff, tables[cell])
            if played.rounds is not None:
                rounds = np.repeat(played.rounds[:, tables[cell]], n // len(tables[cell]), axis=1)
                values = np.concatenate([values, rounds], axis=1)
            leader = played.first
        elif cell.kind == "controlled":
            values, leader = control_variates.play(source, plain[cell.hero], plain[cell.field], at, count)
        else:
            values, leader = one_table.play(source, players, at, count)
        for first, some in _in_rows(at, count):
            part = slice(first - at, first - at + some)
            yield [number, first, some, values.shape[1], packed(values[part]), packed(leader[part]), None]


def seat_values(payoff: NDArray[np.int64], tables: Sequence[int]) -> NDArray[np.int64]:
    """Returns the payoffs of a cell by seat, ``(D, n)``: the hero's in each seat, or all of one table."""
    if len(tables) == 1:
        return payoff[:, tables[0]]
    return payoff[:, tables, range(len(tables))]


def _in_rows(first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yields the deals ``first .. first+count-1`` as ranges that cross no multiple of :data:`~.rows.ROW`."""
    at = first
    while at < first + count:
        some = min(ROW - at % ROW, first + count - at)
        yield at, some
        at += some


# ---- what is missing ---------------------------------------------------------------------------------------------------


CellRows = list[tuple[Cell, Row]]


class Block(NamedTuple):
    """All cells of a plan on the same deals."""

    first: int
    deals: int
    rows: Mapping[Cell, Row]

    def part(self, first: int, deals: int) -> Block:
        """Returns the deals ``first .. first+deals-1``; the rows have numbers for each deal."""
        return Block(first, deals, {cell: row.part(first, deals) for cell, row in self.rows.items()})


class Measurement:
    """A plan with its agents, the store of its rows, and where units are played."""

    def __init__(
        self,
        plan: MeasurePlan,
        agents: Sequence[Agent],
        *,
        store: Store | None = None,
        executor: Executor | None = None,
        bots: BotSettings | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        """``store``: None: nothing is kept. ``executor``: None: this process. ``bots`` says how bots among the agents are asked.

        ``progress`` is called with numbers of deals, those of a cell each. Raises :class:`AgentError` for an agent that cannot
        play there, and where a store needs the identity of one that has none.
        """
        plan.source.check(agents)
        self.plan = plan
        self.agents = agents
        self.store = store
        self._executor = executor or InProcess()
        self._progress = progress or (lambda deals: None)
        self.source_id = "" if store is None else source_id(plan.source)
        self.ids = (
            [*map(str, range(len(agents)))] if store is None else [player_id(name, plan.setup, bots) for name in plan.agents]
        )
        if len(set(self.ids)) < len(self.ids):
            same = [name for name, one in zip(plan.agents, self.ids, strict=True) if self.ids.count(one) > 1]
            raise AgentError(f"Expected different players, and these play by the same code and weights: {quoted(same)}.")

    def key(self, cell: Cell) -> Key:
        """Returns the key of a cell's rows."""
        if cell.kind == "one table":
            hero = field = one_table.group_id(self.ids)
        else:
            hero, field = self.ids[cell.hero], self.ids[cell.field]
        return Key(self.source_id, hero, field, cell.kind)

    def missing(self, share: tuple[int, int] | None = None) -> tuple[MeasurePlan, list[WorkUnit]]:
        """Returns the plan of what is missing, and its units in order.

        ``share``: ``(i, n)`` for the i-th of n jobs, i from 1 on, which play every n-th unit of the whole plan each.
        """
        plan, parts, units = self.plan, dict[tuple[Cell, ...], int](), list[WorkUnit]()
        number, jobs = share or (1, 1)
        for place, (part, at, count) in enumerate(plan.units()):
            if place % jobs != number - 1:
                continue
            lacking = {cell: self._covered(cell, at, count) for cell in plan.parts[part]}
            cells = {cell for cell, covered in lacking.items() if covered < count}
            fields = {cell.field for cell in cells if cell.kind == "behaviour"}
            cells |= {Cell(field, field) for field in fields}
            if cells:
                start = min(covered for cell, covered in lacking.items() if cell in cells)
                ordered = tuple(cell for cell in plan.parts[part] if cell in cells)
                units.append(WorkUnit(parts.setdefault(ordered, len(parts)), at + start, count - start))
        return structs.replace(plan, parts=tuple(parts)), units

    def _covered(self, cell: Cell, first: int, deals: int) -> int:
        return 0 if self.store is None else self.store.covered(self.key(cell), first, deals)

    def fill(self, plan: MeasurePlan, units: Sequence[WorkUnit]) -> Generator[tuple[WorkUnit, CellRows], None, None]:
        """Plays ``units`` of ``plan``, as :meth:`missing` returns both; adds their rows to the store, and yields them."""
        with closing(self._executor.results(plan, self.agents, iter(units))) as results:
            for unit, payload in results:
                rows = self._rows(plan.parts[unit.part], unit, payload)
                if self.store is not None:
                    self.store.add([row for _, row in rows])
                self._progress(unit.deals * len(plan.parts[unit.part]))
                yield unit, rows

    def _rows(self, cells: Sequence[Cell], unit: WorkUnit, payload: Payload) -> CellRows:
        """Returns the rows of a unit; what bots did in it, and its clocks, are with the last."""
        made: dict[str, Any] = {"package": package_version()}
        if self.store is not None and any(map(depends_on_batch, self.agents)):
            part = [[*self.key(cell)[1:]] for cell in cells]
            made["unit"] = {"first": unit.first, "deals": unit.deals, "cells": part}
        rows = []
        for number, first, deals, columns, values, leader, sums in payload["rows"]:
            played = deals if columns else 0
            row = Row(
                self.key(cells[number]), first, deals,
                unpacked(values, (played, columns), np.int64) if columns else np.zeros((0, 0), np.int64),
                unpacked(leader, (played,), np.int64) if columns else np.zeros(0, np.int64), sums, made=made,
            )  # fmt: skip
            rows.append((cells[number], row))
        cell, last = rows[-1]
        bots = {key: payload[key] for key in ("bots",) if key in payload}
        clocks = {"clocks": dict(zip(self.plan.agents, payload["clocks"], strict=True))} if payload["clocks"] else {}
        rows[-1] = cell, replace(last, bots=bots, made={**made, **clocks})
        return rows

    def blocks(self) -> Generator[Block, None, None]:
        """Yields all cells on the same deals, in the order of the deals; raises as executors do.

        What is in the store is read, and the rest is played. A block is kept no longer than until it is yielded.
        """
        plan, units = self.missing()
        first, size = self.plan.first, self.plan.unit
        left = Counter((unit.first - first) // size for unit in units)
        played: dict[int, dict[Cell, list[Row]]] = defaultdict(lambda: defaultdict(list))
        with closing(self.fill(plan, units)) as results:
            for place, (at, count) in enumerate(chunks(first, self.plan.deals, size)):
                if stored_deals := sum(self._covered(cell, at, count) for cell in self.plan.cells):
                    self._progress(stored_deals)
                while left[place]:
                    unit, rows = next(results)
                    where = (unit.first - first) // size
                    left[where] -= 1
                    for cell, row in rows:
                        played[where][cell].append(row)
                whole = {}
                for cell in self.plan.cells:
                    stored = [] if self.store is None else self.store.pieces(self.key(cell), at, count)
                    together = joined([*stored, *played[place][cell]], at, count)
                    if together is None:
                        raise WorkError(f"Deals {at} to {at + count - 1} were played and are not there.")
                    whole[cell] = together
                played.pop(place, None)
                yield Block(at, count, whole)

    def replay(self, row: Row) -> Row | None:
        """Returns a row of the store as it is played now; None where one of its players is not among the agents.

        Where players depend on the batch, the unit is played in which the row was.
        """
        numbers = {one: number for number, one in enumerate(self.ids)}
        unit = row.made.get("unit", {"first": row.first, "deals": row.deals, "cells": [[*row.key[1:]]]})
        cells = []
        for hero, field, kind in unit["cells"]:
            if kind == "one table" and hero == one_table.group_id(self.ids):
                cells.append(Cell(0, 0, kind))
            elif hero in numbers and field in numbers:
                cells.append(Cell(numbers[hero], numbers[field], kind))
                if kind == "behaviour":
                    cells.append(Cell(numbers[field], numbers[field]))
        if row.key.source != self.source_id or len(dict.fromkeys(cells)) < len(unit["cells"]):
            return None
        plan = structs.replace(self.plan, parts=(tuple(dict.fromkeys(cells)),))
        work = WorkUnit(0, unit["first"], unit["deals"])
        ((_, payload),) = InProcess().results(plan, self.agents, [work])
        pieces = [piece for cell, piece in self._rows(plan.parts[0], work, payload) if self.key(cell) == row.key]
        again = joined(pieces, row.first, row.deals)
        return None if again is None else replace(again, bots=row.bots, made={})
