"""Records: finished matches as text that anyone can replay. JSON Lines, one match a line, UTF-8.

Writers emit keys in a fixed order; readers never guess. This module has the head that all records share, the lines and the
files; the body is written and checked by the game's ``Transcriber``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nainjaune_env.core.atomic_files import locked, replacing
from nainjaune_env.core.errors import RecordError, RulesError, as_sentence, quoted, unknown_name_message
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import GameSpec, Setup, Transcriber
from nainjaune_env.core.validation import MAX_SEED, check_keys, check_list, distinct_keys
from nainjaune_env.records import generic
from nainjaune_env.registry import get_game

FORMAT = "nainjaune-record"
VERSION = 1
MAX_LINE = 1 << 26
"""Bytes of the longest line that is read: a match of the widest rules has a thousandth of that."""
HEAD = ("format", "version", "game", "preset", "rules", "players", "seed", "agents")
"""The keys that every record begins with, in order; the body's (``Transcriber.BODY``) follow."""

MAX_NAME = 4096
"""Characters of an agent's name in a record: as many as the path of a run may have."""
MAX_SHOWN_NAME = 100
"""Characters of an agent's name where it is shown."""

Record = dict[str, Any]


def transcriber_of(game: GameSpec) -> Transcriber:
    """Returns what writes and checks the records of ``game``: its own transcriber, or the generic one."""
    return generic if game.transcriber is None else game.transcriber


def make_record(setup: Setup, body: Mapping[str, Any], *, agents: Sequence[str], seed: int | None = None) -> Record:
    """Returns a record with a ``body`` that the game's transcriber wrote; ``agents`` are names in seat order.

    ``seed``: what the match was made from; not needed for replay. Raises :class:`RecordError` for a head that is not valid.
    """
    record = {"format": FORMAT, "version": VERSION, **setup.to_dict(), "seed": seed, "agents": list(agents), **body}
    setup_of(record)
    return record


def record_of(
    setup: Setup,
    opening: Any,
    actions: Sequence[int],
    *,
    single_round: bool,
    agents: Sequence[str],
    seed: int | None = None,
) -> Record:
    """Returns the record of the match that ``actions`` made of the table ``opening``, as ``Transcriber.transcribe`` takes them.

    A round played by itself (``single_round``) is written as a match under rules of one round (``GameSpec.single_round``). Raises
    :class:`RecordError` where this is not a finished match from its first deal on.
    """
    if single_round:
        setup = replace(setup, rules=setup.game.single_round(setup.rules))
    body = transcriber_of(setup.game).transcribe(setup, opening, actions)
    return make_record(setup, body, agents=agents, seed=seed)


def setup_of(record: Mapping[str, Any]) -> Setup:
    """Returns the setup that a record was played under; raises :class:`RecordError` where its head is not valid."""
    _check_kind(record)
    try:
        game = get_game(record["game"])
    except RulesError as error:
        raise RecordError(str(error)) from None
    check_keys("The record", record, HEAD + transcriber_of(game).BODY)
    if record["preset"] not in list(game.presets):
        raise RecordError(unknown_name_message("preset", record["preset"], game.presets))
    preset = game.presets[record["preset"]].rules
    rules = check_keys(
        "The record's rules", record["rules"], preset.names(extensions=False), optional=preset.names(extensions=True)
    )
    if type(record["players"]) is not int:  # null would be the game's default
        raise RecordError(f"The record: expected 'players' to be a whole number, not {quoted(record['players'])}.")
    try:
        setup = game.setup(record["preset"], record["players"], **rules)
        game.check_match(setup.rules)
    except RulesError as error:
        raise RecordError(str(error)) from None
    seed = record["seed"]
    if seed is not None and not (type(seed) is int and 0 <= seed <= MAX_SEED):
        raise RecordError(f"The record: expected 'seed' to be a whole number from 0 to {MAX_SEED} or null, not {quoted(seed)}.")
    for name in check_list("The record", "agents", record["agents"], str, setup.players):
        if len(name) > MAX_NAME:
            raise RecordError(f"The record: expected names of agents of at most {MAX_NAME} characters, not {len(name)}.")
    return setup


def _check_kind(record: object) -> None:
    """Checks format, version and game, before anything else: a record of another kind gives other meanings to the same keys."""
    if not isinstance(record, Mapping):
        raise RecordError(f"A record is an object, not {quoted(record)}.")
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        given = record.get(key)
        if type(given) is not type(expected) or given != expected:
            raise RecordError(f"Expected a record with the {key} {expected!r}, and it has {quoted(given)}.")
    if not isinstance(record.get("game"), str):
        raise RecordError(f"Expected a record with the name of a game, and it has {quoted(record.get('game'))}.")


def verify_record(record: Mapping[str, Any]) -> int:
    """Replays a record; returns its number of rounds.

    Raises :class:`RecordError` at the first value that is malformed, not legal, or not what replay gives.
    """
    setup = setup_of(record)
    transcriber = transcriber_of(setup.game)
    return transcriber.verify(setup, {key: record[key] for key in transcriber.BODY})


def shown_names(record: Mapping[str, Any]) -> list[str]:
    """Returns the agents' names in seat order as texts, pictures and pages show them: printable, long ones cut short with "…"."""
    names = [printable(name[: MAX_SHOWN_NAME + 1]) for name in record["agents"]]
    return [name if len(name) <= MAX_SHOWN_NAME else name[: MAX_SHOWN_NAME - 1] + "…" for name in names]


def show_record(record: Mapping[str, Any], language: str = "en", part: int | None = None) -> str:
    """Verifies a record and returns it as readable text; ``part``: one round only, from 1."""
    verify_record(record)
    setup = setup_of(record)
    shown = {**record, "agents": shown_names(record)}
    return transcriber_of(setup.game).show(setup, shown, language, part)


def format_record(record: Mapping[str, Any]) -> str:
    """Returns a record as one line of text, without its end; ``parse_record`` is the inverse."""
    setup = setup_of(record)
    ordered = {key: record[key] for key in HEAD + transcriber_of(setup.game).BODY}
    try:
        text = json.dumps(ordered, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"The record cannot be written: {as_sentence(error)}") from None
    return text


def parse_record(text: str) -> Record:
    """Returns the record in one line of text.

    Raises :class:`RecordError` where it is not JSON or its head is not valid; :func:`verify_record` checks the match.
    """
    try:
        record: Record = json.loads(text, object_pairs_hook=distinct_keys, parse_constant=_refuse_constant)
        json.dumps(record, ensure_ascii=False).encode()  # half a surrogate pair can be escaped, and never written again
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"Expected a record as JSON: {as_sentence(error)}") from None
    setup_of(record)
    return record


def _refuse_constant(name: str) -> None:
    raise RecordError(f"Expected a record as JSON, which has no {name}.")


class Line(NamedTuple):
    """One line of a file, read and verified."""

    number: int
    """From 1."""
    record: Record
    rounds: int
    """Rounds replayed."""


def read_lines(lines: Iterable[bytes], name: str) -> Iterator[Line]:
    """Reads and verifies ``lines`` (with their ends, as a file opened in binary mode yields them), one by one.

    Raises :class:`RecordError` naming the file ``name`` and the line, and from a replay the round and move, at fault.
    """
    for number, line in enumerate(lines, 1):
        try:
            if len(line) > MAX_LINE:
                raise RecordError(f"Expected a record in a line of at most {MAX_LINE} bytes.")
            record = _parse_line(line)
            rounds = verify_record(record)
        except RecordError as error:
            raise RecordError(f"{name}, line {number}: {error}") from None
        yield Line(number, record, rounds)


def _parse_line(line: bytes) -> Record:
    try:
        if not line.strip():
            raise RecordError("Expected a record, and the line is empty.")
        try:
            return parse_record(line.decode())
        except UnicodeDecodeError as error:
            raise RecordError(f"Expected UTF-8, and byte {error.start + 1} of the line is {line[error.start]:#04x}.") from None
    except RecordError as error:
        if not line.endswith(b"\n") and not _is_json(line):
            raise RecordError("The file is cut off in the middle of this line.") from error
        raise


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yields the verified records of a file, line by line, as :func:`read_lines`; raises ``OSError`` where it cannot be read."""
    with open_lines(path) as lines:
        for line in read_lines(lines, os.fspath(path)):
            yield line.record


@contextmanager
def open_lines(path: str | os.PathLike[str]) -> Iterator[Iterator[bytes]]:
    """Yields the lines of the file at ``path``, one by one; of one without end, such as a device, no more than is refused.

    Raises ``OSError`` where it cannot be read, and :class:`RecordError` for a name that no file can have.
    """
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except ValueError as error:  # a NUL or half of a surrogate pair
        raise RecordError(f"{quoted(os.fspath(path))} is the name of no file: {as_sentence(error)}") from None
    with file:
        yield iter(lambda: file.readline(MAX_LINE + 1), b"")


def write_records(path: str | os.PathLike[str], records: Iterable[Mapping[str, Any]], *, overwrite: bool = False) -> int:
    """Writes a file of records in the order given; returns their number.

    The file appears under its name when it is complete: until then, and where anything fails, nothing at ``path`` has changed.
    Raises :class:`RecordError` where the file exists, unless ``overwrite``.
    """
    target = Path(path)
    _refuse_existing(target, overwrite)
    count = 0
    with replacing(target) as partial:
        with partial.open("wb") as file:
            for record in records:
                file.write(format_record(record).encode() + b"\n")
                count += 1
        _refuse_existing(target, overwrite)
    return count


def append_record(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Adds a record to the end of a file of records, which is made where it does not exist; a symbolic link is followed.

    The file is replaced as a whole, so that after a failure it holds what it held before. Processes that add to one file at
    once wait for each other. Raises :class:`RecordError` as :func:`check_appendable` does; then nothing has changed.
    """
    line = format_record(record).encode() + b"\n"
    target = Path(path).resolve()  # renaming would replace a link
    with locked(target):
        check_appendable(path)
        with replacing(target) as partial:
            if target.exists():
                shutil.copyfile(target, partial)
            with partial.open("ab") as file:
                file.write(line)


def check_appendable(path: str | os.PathLike[str]) -> None:
    """Raises :class:`RecordError` where a file exists that does not end with a record, and ``OSError`` where it cannot be read.

    An empty file is a file of no records.
    """
    if not os.path.exists(path):
        return
    if not os.path.isfile(path):
        raise RecordError(f"{quoted(os.fspath(path))} is no file, so nothing is added to it.")
    with open(path, "rb") as file:
        lines = file.readlines()
    if not lines:
        return
    where = f"{os.fspath(path)}, line {len(lines)}"
    try:
        _parse_line(lines[-1])
    except RecordError as error:
        raise RecordError(f"{where}: {error} Nothing is added to such a file.") from None
    if not lines[-1].endswith(b"\n"):
        raise RecordError(f"{where}: the line has no end. Nothing is added to such a file.")


def _refuse_existing(target: Path, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise RecordError(f"{target} exists already; choose another name, or say that it may be overwritten.")
