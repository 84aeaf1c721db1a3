"""The folder of a ladder is read strictly, and paths in entries are relative to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nainjaune_agents.measure.ladder.entries import located, read_ladder
from nainjaune_env.core.errors import ConfigError

from .ladders import HEAD, TABLES, entry, ladder


def test_a_ladder_is_read(tmp_path: Path) -> None:
    entry(ladder(tmp_path), "pots", "pots@remember=0.5", tables='["djeco-2"]', description='"x"', url='"https://example.org"')
    read = read_ladder(tmp_path)
    assert list(read.tables) == ["djeco-3", "djeco-2"]
    assert [setup.players for setup in read.tables.values()] == [3, 2]
    assert read.players("djeco-3") == ["closer", "lowest", "random", "tally"]
    assert len(read.pairs("djeco-2")) == 10
    assert read.bots.on_fault == "forfeit"


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD, "the key 'tables' is missing"),
        (HEAD.replace("batch", "bach") + TABLES, "Did you mean 'batch'"),
        (HEAD.replace("256", "100") + TABLES, "'batch' is a multiple of 256"),
        (HEAD + HEAD, "Cannot overwrite a value"),
        (HEAD + TABLES + TABLES, "'djeco-3' is there twice"),
        (HEAD + TABLES.replace("djeco", "djecko"), "Did you mean 'djeco'"),
        (HEAD + TABLES.replace("3, 2", ""), "from 1 to 50 tables, not 0"),
        (HEAD + TABLES + "[bots]\non_fault = 'skip'\n", "Unknown bots.on_fault 'skip'"),
        ("x" * (1 << 17), "more than 65536 bytes"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path: Path, head: str, message: str) -> None:
    ladder(tmp_path)
    (tmp_path / "ladder.toml").write_text(head, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_ladder(tmp_path)
    assert message in str(refused.value)
    assert "ladder.toml" in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("key", "agent", "others", "message"),
    [
        ("a", "tally", {}, "'a' and 'tally' have the same agent"),
        ("a", "pots", {"tables": '["djeco-4"]'}, "Unknown table 'djeco-4'"),
        ("a", "pots", {"nme": '"x"'}, "Unknown key 'nme'"),
        ("a", "pots", {"url": '"javascript:alert(1)"'}, "begins with http"),
        ("a", "pots", {"description": '"a\\u001b[31m"'}, "one line of text"),
        ("a--b", "pots", {}, "single '-'"),
        ("a", "exec:./bot 'x", {}, "is not a command"),
        ("k" * 81, "pots", {}, "has a name of up to 80 small letters"),
    ],
)
def test_entries_that_do_not_fit_are_refused(tmp_path: Path, key: str, agent: str, others: dict[str, str], message: str) -> None:
    entry(ladder(tmp_path), key, agent, **others)
    with pytest.raises(ConfigError) as refused:
        read_ladder(tmp_path)
    assert message in str(refused.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("name", ["ladder.toml", "entries/pipe.toml"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    ladder(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigError, match=rf"/{name}' is no (ladder|entry) in TOML: it is no file\.$"):
        read_ladder(tmp_path)


def test_a_ladder_and_each_table_need_two_entries(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no ladder at .*ladder\.toml"):
        read_ladder(tmp_path)
    ladder(tmp_path, "lowest")
    with pytest.raises(ConfigError, match="has 1 entries"):
        read_ladder(tmp_path)
    entry(tmp_path, "tally", tables='["djeco-3"]')
    with pytest.raises(ConfigError, match=r"the table 'djeco-2' takes two or more entries, not \['lowest'\]\.$"):
        read_ladder(tmp_path)


def test_paths_are_relative_to_the_entry(tmp_path: Path) -> None:
    (tmp_path / "bot.py").touch()
    (tmp_path / "my run").mkdir()
    there = str(tmp_path)
    assert located("closer@search=5", tmp_path) == "closer@search=5"
    assert located("zoo:strong", tmp_path) == "zoo:strong"
    assert located("mixed:bot.py:make+closer", tmp_path) == f"mixed:{there}/bot.py:make+closer"
    assert located("bot.py:make", tmp_path) == f"{there}/bot.py:make"
    assert located("sb3:model.zip@sample", tmp_path) == f"sb3:{there}/model.zip@sample"
    assert located("onnx:a.onnx", tmp_path) == f"onnx:{there}/a.onnx"
    assert located("exec:./bot --level 3", tmp_path) == f"exec:{there}/bot --level 3"
    assert located("exec:python3 bot.py x", tmp_path) == f"exec:python3 {there}/bot.py x"
    assert located("exec:python3 x --bot=bot.py --x=y", tmp_path) == f"exec:python3 x --bot={there}/bot.py --x=y"
    assert located("./my run@best", tmp_path) == f"{there}/my run@best"
    for long in (f"exec:python3 -c {450 * 'x'}", f"./{450 * 'x'}"):
        assert located(long, tmp_path) == long
