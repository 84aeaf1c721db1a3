"""Records of any game that has none of its own: the opening table of each round as numbers, the plies by name, the payoffs.

The module as a whole is a ``nainjaune_env.core.spec.Transcriber``. An opening has to be a table that can occur
(``Setup.check_tables``), and its fields that chance does not set (``GameSpec.chance_fields``) those that a deal gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError, RecordError, quoted, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.core.validation import check_equal, check_keys, check_list
from nainjaune_env.engine.replay import ActionLog, Replay

BODY: tuple[str, ...] = ("episode", "rounds")
"""The keys of a body: what was played, ``match`` or ``round``, and its rounds in order."""
ROUND = ("opening", "plies", "payoffs")
"""The keys of a round: the fields of the dealt table by name, ``[seat, action's name]`` for each ply, and a number for each seat.

``rng`` is among the fields only where chance acts within the round.
"""
EPISODES = ("match", "round")


def transcribe(setup: Setup, table: Table, actions: Sequence[int]) -> dict[str, Any]:
    """Returns the body of the record of the match that begins with ``table``, or of its first round where ``actions`` end there.

    ``actions`` are one for every ply. Raises :class:`RecordError` where ``table`` is not as a match's first
    deal leaves it, or the actions are too few, too many, or not legal.
    """
    replay, log = Replay(setup, table), ActionLog(actions)
    if replay.round_over:
        raise RecordError("A record begins with a dealt table, and no round is being played at this one.")
    _check_dealt(setup, _fields(replay.table), None, "A record begins with a match's first deal")
    rounds: list[dict[str, Any]] = []
    while True:
        opening, state = _fields(replay.table), int(replay.table.rng)
        where = f"Round {len(rounds) + 1}, ply {{}}".format
        plies = [[ply.seat, setup.game.actions[ply.action]] for ply in replay.plies(log, complete=True, where=where)]
        if int(replay.table.rng) == state:
            del opening["rng"]
        rounds.append({"opening": opening, "plies": plies, "payoffs": replay.payoffs})
        if replay.match_over or (len(rounds) == 1 and log.used == len(actions)):
            break
        replay.deal()
    log.check_spent()
    return {"episode": "match" if replay.match_over else "round", "rounds": rounds}


def verify(setup: Setup, body: Mapping[str, Any]) -> int:
    """Replays ``body``; returns the number of rounds.

    Raises :class:`RecordError` naming the round, the ply and what was expected, at the first value that does not fit.
    """
    check_keys("The record", body, BODY)
    rounds = check_list("The record", "rounds", body["rounds"], dict)
    if body["episode"] not in list(EPISODES):
        raise RecordError(f"The record: {unknown_name_message('episode', body['episode'], EPISODES)}")
    if not rounds or (body["episode"] == "round" and len(rounds) > 1):
        raise RecordError(f"The record: a {body['episode']} has {'1 round' if rounds else 'a round'}, not {len(rounds)}.")
    settled: Replay | None = None
    for number, written in enumerate(rounds, 1):
        if settled is not None and settled.match_over:
            raise RecordError(f"Round {number}: expected no more rounds, for the match was over after round {number - 1}.")
        settled = _verify_round(setup, written, settled, f"Round {number}")
    if body["episode"] == "match" and not (settled is not None and settled.match_over):
        raise RecordError(f"The record: expected a round {len(rounds) + 1}, for the match is not over.")
    return len(rounds)


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns a verified record as text: a line for each field of an opening, each ply and the payoffs."""
    rounds = record["rounds"]
    if part is not None and not 1 <= part <= len(rounds):
        raise RecordError(f"The record has rounds 1 to {len(rounds)}, and no round {quoted(part)}.")
    word = {"en": "Round", "fr": "Manche"}[language]
    lines = [f"{setup.game.title} · {setup.preset} · {', '.join(record['agents'])}"]
    for number, written in enumerate(rounds, 1):
        if part in (None, number):
            lines += ["", f"{word} {number}", *(f"  {name}: {values}" for name, values in written["opening"].items())]
            lines += [f"  {seat} {record['agents'][seat]}: {action}" for seat, action in written["plies"]]
            lines.append(f"  {setup.game.unit}: {', '.join(map(str, written['payoffs']))}")
    return "\n".join(lines) + "\n"


def _fields(table: Table) -> dict[str, Any]:
    """Returns the fields of a table as JSON has them: whole numbers, and lists of them."""
    return {name: np.asarray(table[name]).tolist() for name in table.dtype.names}


def _check_dealt(setup: Setup, opening: Mapping[str, Any], settled: Replay | None, where: str) -> None:
    """Raises :class:`RecordError` unless an opening has the fields that a deal sets without chance.

    It is the deal after the round that is ``settled``, where the next round is then dealt, or a match's first (None).
    """
    if setup.game.chance_fields is None:
        return
    if settled is None:
        settled = Replay(setup, np.zeros(1, setup.game.table)[0])
        settled.kernel.start(settled.table, settled.rules)
    settled.deal()
    for name, value in _fields(settled.table).items():
        if name not in (*setup.game.chance_fields, "rng"):
            check_equal(where, name, opening[name], value)


def _verify_round(setup: Setup, written: object, settled: Replay | None, where: str) -> Replay:
    """Replays one round, which follows the one that is ``settled`` (None: it is the first); returns it settled."""
    given = check_keys(where, written, ROUND)
    replay = Replay(setup, _opening(setup, given["opening"], where))
    _check_dealt(setup, given["opening"], settled, f"{where}, opening")
    names = setup.game.actions
    plies = check_list(where, "plies", given["plies"], list, items=False)
    for number, ply in enumerate(plies, 1):
        if replay.round_over:
            raise RecordError(
                f"{where}, ply {number}: expected no more plies, for the round is over; the record has {quoted(ply)}."
            )
        legal_bits = replay.legal_bits()
        legal = [name for action, name in enumerate(names) if legal_bits >> action & 1]
        if not (isinstance(ply, list) and len(ply) == 2 and type(ply[0]) is int and ply[0] == replay.seat and ply[1] in legal):
            raise RecordError(f"{where}, ply {number}: expected [{replay.seat}, one of {legal}], not {quoted(ply)}.")
        replay.step(names.index(ply[1]))
    if not replay.round_over:
        raise RecordError(f"{where}: expected a ply {len(plies) + 1} by seat {replay.seat}, and the plies end.")
    check_equal(where, "payoffs", given["payoffs"], replay.payoffs)
    return replay


def _opening(setup: Setup, written: object, where: str) -> Table:
    """Returns the table of a written opening; raises :class:`RecordError` where it is none that can be played on."""
    dtype = setup.game.table
    names = tuple(name for name in dtype.names or () if name != "rng")
    fields = check_keys(f"{where}, opening", written, names, optional=("rng",))
    rows = np.zeros(1, dtype)
    for name, values in fields.items():
        field = rows[name]
        if not _fits(values, field.shape[1:], np.iinfo(field.dtype)):
            shape = f"whole numbers in shape {field.shape[1:]}" if field.ndim > 1 else "a whole number"
            raise RecordError(f"{where}, opening: expected {name!r} to be {shape}, {field.dtype}, not {quoted(values)}.")
        field[0] = np.array(values, field.dtype)
    check_equal(f"{where}, opening", "stage", fields["stage"], int(Stage.PLAYING))
    try:
        setup.check_tables(rows)
    except DealError as error:
        raise RecordError(f"{where}, opening: {error}") from None
    return rows[0]


def _fits(values: object, shape: tuple[int, ...], limits: np.iinfo[Any]) -> bool:
    """Returns whether ``values`` are nested lists of this ``shape``, of whole numbers within the ``limits``."""
    if not shape:
        return type(values) is int and limits.min <= values <= limits.max
    return isinstance(values, list) and len(values) == shape[0] and all(_fits(value, shape[1:], limits) for value in values)
