"""The record format, its lines and its files, and the golden records."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.validation import identical
from nainjaune_env.records import record as record_module
from nainjaune_env.records.record import (
    HEAD,
    MAX_NAME,
    MAX_SHOWN_NAME,
    Record,
    append_record,
    check_appendable,
    format_record,
    make_record,
    parse_record,
    read_lines,
    read_records,
    setup_of,
    show_record,
    shown_names,
    verify_record,
    write_records,
)
from nainjaune_env.registry import get_game, make_setup
from tests import golden
from tests.support.games import games_with
from tests.support.recorded import KNOBS, WIDEST, play, seeds, setups


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return play(make_setup("nain_jaune", "classic", 3, max_rounds=1), 7, 3)


@pytest.fixture(scope="module", params=games_with("transcriber"))
def of_any_game(request: pytest.FixtureRequest) -> Record:
    """A record of each game in turn."""
    game: str = request.param
    return play(make_setup(game, WIDEST[game], 3), 7)[0]


def test_there_are_random_rules_for_every_game() -> None:
    assert set(WIDEST) == set(KNOBS) == set(games_with("transcriber"))
    for game, preset in WIDEST.items():
        plain = make_setup(game, preset)
        assert set(KNOBS[game]) <= set(plain.rules.names())


# -------------------------------------------------------------------- golden


@pytest.mark.parametrize("name", golden.CASES)
def test_a_golden_match_is_played_again_to_the_letter(name: str) -> None:
    path = golden.FOLDER / f"{name}.jsonl"
    assert path.exists(), f"{path.name} is missing; `python -m tests.golden` writes it"
    assert format_record(golden.play(golden.CASES[name])) + "\n" == path.read_text(encoding="utf-8")


def test_there_is_a_golden_record_of_every_preset() -> None:
    played = {(case.game, case.preset) for case in golden.CASES.values()}
    assert played == {(name, preset) for name in games_with("transcriber") for preset in get_game(name).presets}
    assert {path.stem for path in golden.FOLDER.glob("*.jsonl")} == set(golden.CASES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", golden.SHOWN)
def test_the_account_of_a_golden_match_stays_as_it_is(name: str, language: str) -> None:
    (record,) = read_records(golden.FOLDER / f"{name}.jsonl")
    kept = golden.FOLDER / f"{name}.{language}.txt"
    assert show_record(record, language) == kept.read_text(encoding="utf-8")


def test_an_account_is_kept_of_every_game() -> None:
    assert sorted(golden.CASES[name].game for name in golden.SHOWN) == sorted(games_with("transcriber"))


# -------------------------------------------------------------- text and back


@settings(max_examples=20, deadline=None)
@given(setups(), seeds, st.lists(st.text(), min_size=8, max_size=8), st.none() | st.integers(0, 2**64 - 1))
def test_parse_undoes_format(setup: Setup, seed: int, names: list[str], noted: int | None) -> None:
    (record,) = play(setup, seed)
    record["agents"], record["seed"] = names[: setup.players], noted
    text = format_record(record)
    assert "\n" not in text
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text
    assert setup_of(record).rules == setup.rules


BODIES = {
    "batasaurus": ["layouts", "leader", "moves", "piles", "winners"],
    "nain_jaune": ["rounds", "stacks", "pots", "winners"],
}
"""What each game's records hold after the head, as the format says."""


def test_keys_come_in_the_order_of_the_format_whatever_the_order_given(of_any_game: Record) -> None:
    shuffled = dict(reversed(of_any_game.items()))
    written = json.loads(format_record(shuffled))
    assert list(written) == [*HEAD, *BODIES[of_any_game["game"]]]


def test_keys_of_a_round_come_in_the_order_of_the_format(records: list[Record]) -> None:
    written = json.loads(format_record(records[0]))
    expected = "dealer stacks pots hands talon moves legal winner grand_opera defaults stacks_after pots_after"
    assert list(written["rounds"][0]) == expected.split()


def without(key: str) -> Callable[[Record], None]:
    return lambda record: record.pop(key)


def having(**values: Any) -> Callable[[Record], None]:
    return lambda record: record.update(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (having(format="pgn"), "Expected a record with the format 'nainjaune-record', and it has 'pgn'."),
        (without("format"), "Expected a record with the format 'nainjaune-record', and it has None."),
        (having(version=2), "Expected a record with the version 1, and it has 2."),
        (having(version=True), "Expected a record with the version 1, and it has True."),
        (having(game="whist"), "Unknown game 'whist'."),
        (having(game="nain_jane"), "Unknown game 'nain_jane'. Did you mean 'nain_jaune'?"),
        (having(game=None), "Expected a record with the name of a game, and it has None."),
        (having(preset="clasic"), "Unknown preset 'clasic'. Did you mean 'classic'?"),
        (having(preset=["classic"]), "Unknown preset ['classic']."),
        (having(players=9), "The preset 'classic' is for 3 to 8 players, not 9."),
        (having(players=3.0), "The record: expected 'players' to be a whole number, not 3.0."),
        (having(players=True), "The record: expected 'players' to be a whole number, not True."),
        *(
            (having(seed=seed), f"The record: expected 'seed' to be a whole number from 0 to {2**64 - 1} or null, not {seed}.")
            for seed in (7.0, True, -1, 2**64)
        ),
        (having(agents=["a", "b"]), "The record: expected 'agents' to be a list of 3 texts, not ['a', 'b']."),
        (having(agents=["a", "b", 3]), "The record: expected 'agents' to be a list of 3 texts, not ['a', 'b', 3]."),
        (having(agents=["a", "b", "c" * (MAX_NAME + 1)]), "The record: expected names of agents of at most"),
        (having(rules=[]), "The record's rules: expected an object with the keys direction, decline,"),
        (having(extra=1), "The record: Unknown key 'extra'."),
        (without("winners"), "The record: the key 'winners' is missing;"),
        (without("seed"), "The record: the key 'seed' is missing;"),
        (lambda r: r["rules"].pop("stake"), "The record's rules: the key 'stake' is missing;"),
        (lambda r: r["rules"].update(steak=1), "The record's rules: Unknown key 'steak'. Did you mean 'stake'?"),
        (lambda r: r["rules"].update(stake=1.0), "The knob 'stake' is a whole number from 1 to"),
        (lambda r: r["rules"].update(decline=["never"]), "Unknown value for the knob 'decline': ['never']."),
        (lambda r: r["rules"].update(max_rounds=None), "A match under these rules has no end"),
    ],
)
def test_a_head_that_is_not_sound_is_refused_in_a_sentence(
    records: list[Record], change: Callable[[Record], None], message: str
) -> None:
    record = copy.deepcopy(records[0])
    change(record)
    for use in (setup_of, verify_record, format_record, show_record, lambda r: parse_record(json.dumps(r))):
        with pytest.raises(RecordError) as caught:
            use(record)
        assert str(caught.value).startswith(message)


def test_an_extension_is_written_only_where_it_is_not_at_its_default() -> None:
    (plain,), (short,) = (play(make_setup("batasaurus", dinosaurs=dinosaurs), 1) for dinosaurs in (12, 4))
    assert plain["rules"] == {"memory": "glimpse", "exhausted": "split"}
    assert short["rules"] == {"memory": "glimpse", "exhausted": "split", "dinosaurs": 4}
    assert setup_of(plain).rules.to_dict() == plain["rules"]
    for value, message in (
        (13, "The knob 'dinosaurs' is a whole number from 2 to 12, not 13."),
        (4.0, "The knob 'dinosaurs' is a whole number from 2 to 12, not 4.0."),
        (True, "The knob 'dinosaurs' is a whole number from 2 to 12, not True."),
    ):
        with pytest.raises(RecordError, match=re.escape(message)):
            setup_of({**short, "rules": {**short["rules"], "dinosaurs": value}})
    with pytest.raises(RecordError, match=r"^The record's rules: Unknown key 'dinosaur'\. Did you mean 'dinosaurs'\?"):
        setup_of({**plain, "rules": {**plain["rules"], "dinosaur": 4}})
    with pytest.raises(RecordError, match=r"^The record's rules: the key 'memory' is missing"):
        setup_of({**plain, "rules": {"exhausted": "split"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expected a record as JSON: "),
        ("{", "Expected a record as JSON: "),
        ("nothing", "Expected a record as JSON: "),
        ("[" * 100_000, "Expected a record as JSON: "),
        ("1" * 10_000, "Expected a record as JSON: "),
        ('{"a": "\\ud800"}', "Expected a record as JSON: "),
        ('{"a": NaN}', "Expected a record as JSON, which has no NaN."),
        ('{"a": -Infinity}', "Expected a record as JSON, which has no -Infinity."),
        ('{"a": 1, "a": 1}', "Expected each key once, and 'a' comes 2 times."),
        ('{"a": {"b": 1, "b": 2}}', "Expected each key once, and 'b' comes 2 times."),
        ("[]", "A record is an object, not []."),
        ("null", "A record is an object, not None."),
    ],
)
def test_text_that_is_no_record_is_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    assert str(caught.value).startswith(message)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_line_cut_anywhere_is_refused(of_any_game: Record, data: st.DataObject) -> None:
    line = format_record(of_any_game).encode()
    cut = data.draw(st.integers(1, len(line) - 1))
    with pytest.raises(RecordError, match=r"^f, line 1: The file is cut off in the middle of this line\.$"):
        list(read_lines([line[:cut]], "f"))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a record."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def parts(record: Record) -> list[Any]:
    """The record, and its parts, so that each is as likely to be changed, however small."""
    rounds = record.get("rounds", [])
    return [record, record["rules"], *record.values(), *rounds, *(part for written in rounds for part in written.values())]


JUNK = (None, True, -1, 10**40, 0.5, "", "As", "-", [], [0], ["As"], {}, [[0, "As"]], {"dealer": 0})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_stands_anywhere_only_a_record_error_is_raised(of_any_game: Record, data: st.DataObject) -> None:
    record = copy.deepcopy(of_any_game)
    top = data.draw(st.sampled_from([part for part in parts(record) if isinstance(part, dict | list) and part]))
    container, key = data.draw(st.sampled_from(list(places(top))))
    before, junk = container[key], data.draw(st.sampled_from(JUNK))
    container[key] = junk
    try:
        verify_record(record)
    except RecordError:
        return
    # what is left: names, notes, and knobs that change nothing in this match
    assert key == "seed" or container is record["rules"] or container is record["agents"] or identical(junk, before)


def test_what_json_cannot_hold_cannot_be_written(records: list[Record]) -> None:
    for value in ([{1, 2}], [float("nan")], ["\ud800"]):
        with pytest.raises(RecordError, match="The record cannot be written: "):
            format_record({**records[0], "winners": value})


def test_make_record_refuses_names_that_do_not_fit(of_any_game: Record) -> None:
    setup = setup_of(of_any_game)
    body = {key: of_any_game[key] for key in setup.game.transcriber.BODY}
    assert make_record(setup, body, agents=of_any_game["agents"], seed=7) == of_any_game
    with pytest.raises(RecordError, match="expected 'agents' to be a list of 3 texts"):
        make_record(setup, body, agents=["a"])


def test_a_long_name_is_kept_whole_and_shown_cut_short(of_any_game: Record) -> None:
    record = {**of_any_game, "agents": ["x" * MAX_NAME, *of_any_game["agents"][1:]]}
    assert parse_record(format_record(record)) == record
    assert shown_names(record)[0] == "x" * (MAX_SHOWN_NAME - 1) + "…"
    assert shown_names({"agents": ["\x1b" * MAX_SHOWN_NAME]})[0] == printable("\x1b" * MAX_SHOWN_NAME)[: MAX_SHOWN_NAME - 1] + "…"
    assert "x" * MAX_SHOWN_NAME not in show_record(record)


# --------------------------------------------------------------------- files


def test_a_file_gives_back_what_was_written(records: list[Record], of_any_game: Record, tmp_path: Path) -> None:
    records = [*records, of_any_game]
    path = tmp_path / "matches.jsonl"
    assert write_records(path, iter(records)) == len(records)
    assert list(read_records(path)) == records
    assert os.listdir(tmp_path) == ["matches.jsonl"]
    assert path.read_bytes().count(b"\n") == len(records)


def test_a_last_line_that_only_lacks_its_end_is_whole(records: list[Record]) -> None:
    (line,) = read_lines([format_record(records[0]).encode()], "f")
    assert (line.number, line.record, line.rounds) == (1, records[0], 1)


def test_a_file_is_read_line_by_line(records: list[Record]) -> None:
    def lines() -> Iterator[bytes]:
        yield format_record(records[0]).encode() + b"\n"
        raise AssertionError("the second line is read before it is asked for")

    assert next(read_lines(lines(), "f")).record == records[0]


def test_errors_name_the_file_the_line_the_round_and_the_move(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    bad = copy.deepcopy(records[1])
    bad["rounds"][0]["moves"][4][0] ^= 1
    write_records(path, [records[0], bad])
    reader = read_records(path)
    assert next(reader) == records[0]
    with pytest.raises(RecordError) as caught:
        next(reader)
    assert str(caught.value).startswith(f"{path}, line 2: Round 1, move 5: it is seat ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\n", r"f, line 2: Expected a record, and the line is empty\."),
        (b"{\xff}\n", r"f, line 2: Expected UTF-8, and byte 2 of the line is 0xff\."),
        (b"{}\n", r"f, line 2: Expected a record with the format"),
        (b'{"format"', r"f, line 2: The file is cut off in the middle of this line\."),
        (b'{"format"\n', r"f, line 2: Expected a record as JSON: "),
    ],
)
def test_a_bad_line_is_refused_naming_it(records: list[Record], line: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        list(read_lines([format_record(records[0]).encode() + b"\n", line], "f"))


def test_an_existing_file_is_kept_unless_it_may_be_overwritten(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write_records(path, records[:1])
    with pytest.raises(RecordError, match=r"m\.jsonl exists already"):
        write_records(path, records)
    assert list(read_records(path)) == records[:1]
    write_records(path, records, overwrite=True)
    assert list(read_records(path)) == records


def test_where_writing_fails_nothing_is_left_behind(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write_records(path, records[:1])

    def failing() -> Iterator[Record]:
        yield records[1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(path, failing(), overwrite=True)
    with pytest.raises(RecordError):
        write_records(path, [{**records[0], "version": 3}], overwrite=True)
    assert os.listdir(tmp_path) == ["m.jsonl"]
    assert list(read_records(path)) == records[:1]


def test_a_file_that_appears_while_another_is_written_is_kept(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"

    def racing() -> Iterator[Record]:
        path.write_text("somebody else's")
        yield records[0]

    with pytest.raises(RecordError, match="exists already"):
        write_records(path, racing())
    assert path.read_text() == "somebody else's"
    assert os.listdir(tmp_path) == ["m.jsonl"]


# ---------------------------------------------------------------- adding to a file


def test_records_are_added_one_by_one(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for number, record in enumerate(records, 1):
        append_record(path, record)
        assert list(read_records(path)) == records[:number]
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"shopping list\n", r"a\.jsonl, line 1: Expected a record as JSON: .* Nothing is added to such a file\."),
        (b"{}\n", r"line 1: Expected a record with the format"),
        (b"\n", r"line 1: Expected a record, and the line is empty\."),
        (b"RECORD\nRECORD", r"line 2: the line has no end\. Nothing is added"),
        (b"RECORD\nRECORD"[:-1], r"line 2: The file is cut off in the middle of this line\. Nothing is added"),
        (b"\xff\n", r"line 1: Expected UTF-8"),
    ],
)
def test_nothing_is_added_to_what_is_no_file_of_records(records: list[Record], tmp_path: Path, content: bytes, says: str) -> None:
    path, record = tmp_path / "a.jsonl", records[0]
    line = format_record(record).encode()
    content = content.replace(b"RECORD", line).replace(b"RECOR", line[:-9])
    path.write_bytes(content)
    for attempt in (lambda: check_appendable(path), lambda: append_record(path, record)):
        with pytest.raises(RecordError, match=says):
            attempt()
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_a_symbolic_link_to_a_file_of_records_is_followed(records: list[Record], tmp_path: Path) -> None:
    target, link = tmp_path / "shared" / "a.jsonl", tmp_path / "mine.jsonl"
    append_record(target, records[0])
    link.symlink_to(target)
    append_record(link, records[1])
    assert link.is_symlink()
    assert list(read_records(target)) == records[:2]


def test_a_record_that_cannot_be_added_leaves_the_file_as_it_was(
    records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, record = tmp_path / "a.jsonl", records[0]
    append_record(path, record)
    before = path.read_bytes()
    with pytest.raises(RecordError):
        append_record(path, {**record, "version": 3})

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OSError, match="No space left"):
        append_record(path, record)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_an_empty_file_and_none_can_be_added_to(records: list[Record], tmp_path: Path) -> None:
    check_appendable(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    append_record(tmp_path / "empty.jsonl", records[0])
    assert len(list(read_records(tmp_path / "empty.jsonl"))) == 1
    assert os.listdir(tmp_path) == ["empty.jsonl"]


def test_processes_that_add_to_one_file_at_once_lose_nothing(records: list[Record], tmp_path: Path) -> None:
    """Each holder of the lock is independent of the others, whether of this process or of another."""
    path = tmp_path / "a.jsonl"
    with ThreadPoolExecutor(6) as writers:
        list(writers.map(lambda number: append_record(path, {**records[0], "seed": number}), range(60)))
    assert sorted(parse_record(line)["seed"] for line in path.read_text(encoding="utf-8").splitlines()) == [*range(60)]
    assert os.listdir(tmp_path) == ["a.jsonl"]


# ---------------------------------------------------------------- large and strange content


@pytest.mark.parametrize("key", ["format", "game", "preset", "players", "rules", "seed", "agents", "rounds"])
@pytest.mark.parametrize(
    "huge", [[7] * 300_000, "x" * 300_000, {str(k): k for k in range(30_000)}], ids=["list", "text", "object"]
)
def test_an_error_quotes_little_of_what_came(records: list[Record], key: str, huge: Any) -> None:
    with pytest.raises(RecordError) as caught:
        verify_record({**records[0], key: huge})
    assert len(str(caught.value)) < 600


def test_an_error_of_a_move_quotes_little_of_it(records: list[Record]) -> None:
    record = copy.deepcopy(records[0])
    record["rounds"][0]["moves"][2] = ["x" * 300_000]
    with pytest.raises(RecordError, match="Round 1, move 3: expected") as caught:
        verify_record(record)
    assert len(str(caught.value)) < 600


def test_repeated_keys_are_found_in_linear_time() -> None:
    """With the square of their number this would take an hour."""
    pairs = ",".join(f'"{number}":0' for number in range(200_000))
    with pytest.raises(RecordError, match=r"^Expected each key once, and '199999' comes 2 times\.$"):
        parse_record(f'{{{pairs},"199999":0}}')


@pytest.mark.parametrize("wrong", [7, None, "3s", {}])
def test_a_move_that_is_no_list_is_named_by_its_number(records: list[Record], wrong: Any) -> None:
    record = copy.deepcopy(records[0])
    record["rounds"][0]["moves"][4] = wrong
    with pytest.raises(RecordError, match=rf"^Round 1, move 5: expected \[.*, and the move is {re.escape(repr(wrong))}\.$"):
        verify_record(record)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a file without end")
def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "MAX_LINE", 1000)
    with pytest.raises(RecordError, match="/dev/zero, line 1: Expected a record in a line of at most 1000 bytes"):
        next(read_records("/dev/zero"))
    with pytest.raises(RecordError, match="'/dev/zero' is no file, so nothing is added to it"):
        check_appendable("/dev/zero")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_is_a_sentence(name: str) -> None:
    with pytest.raises(RecordError, match="is the name of no file"):
        next(read_records(name))
