"""Tables of models, in this process: what they say, count and keep, and what no client learns."""

from __future__ import annotations

import dataclasses
import random
import re
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.language.mcp import tables as module
from nainjaune_agents.language.mcp.tables import Table, Tables
from nainjaune_agents.language.rewards import rewarded
from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import CHIPS, EDGE, REGRET, TextEnvSettings
from nainjaune_agents.language.tasks import tasks
from nainjaune_env.core.errors import AgentError, ConfigError, IllegalActionError, NainJauneError, RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import game_names, get_game
from tests.support.contract import all_setups, helper

MOST = 3
"""Positions that are compared at tables with a setup."""
QUICK = TextEnvSettings(choosing=20, measuring=40)


def started(tables: Tables, *setup: Any, **arguments: Any) -> tuple[str, str]:
    """The word of a new table, and the rest of what start says."""
    first, _, text = tables.start(*setup, **arguments).partition("\n\n")
    return first.removeprefix("Table: "), text


def table_of(tables: Tables, word: str) -> Table:
    return tables._tables[word]


def play_lowest(tables: Tables, word: str) -> None:
    while (prompt := table_of(tables, word).round.prompt) is not None:
        tables.play(word, prompt.names[0])


def said(tables: Tables, word: str) -> list[str]:
    """All that the methods say of a table in the middle of a round, refusals included."""
    texts = [tables.rules(word), tables.see(word)]
    for method in (lambda: tables.play(word, "Move: 99"), lambda: tables.finish(word, regret=True)):
        with pytest.raises(NainJauneError) as error:
            method()
        texts.append(str(error.value))
    try:
        texts.append(tables.advice(word))
    except AgentError as error:  # there is none in this game
        texts.append(str(error))
    return texts


@pytest.mark.long
@pytest.mark.parametrize("setup", all_setups())
def test_hidden_cards_change_no_byte_at_any_table(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    test_hidden_cards_change_no_byte(setup, monkeypatch)


@pytest.mark.parametrize("setup", [get_game(name).setup() for name in game_names()], ids=game_names())
def test_hidden_cards_change_no_byte(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rules, position, refusals and advice, at the first decision, and later on where every seat sees every action."""
    monkeypatch.setattr(module, "ADVICE_ERROR", 1e6)
    asked, ask = [], TextRound._ask

    def asking(played: TextRound, since: int, notice: str | None) -> None:
        asked[:] = since, notice
        ask(played, since, notice)

    monkeypatch.setattr(TextRound, "_ask", asking)
    tables, rng, compared, differing = Tables(TextEnvSettings(retries=9), advice=True), random.Random(1), 0, 0
    for seed in range(6 * setup.players):
        task = {"preset": setup.preset, "players": setup.players, "seat": seed % setup.players, "seed": seed}
        word, _ = started(tables, setup.game.name, **task)
        played = table_of(tables, word).round
        while compared < MOST and played.prompt is not None:
            if setup.game.rewind is not None or played.table.count == 0:
                dealt = played.table.batch.tables
                before, real = said(tables, word), dealt[0].copy()
                dealt[0] = mixed = helper(setup).reshuffle(setup, real, int(real.seat), rng)
                played._ask(*asked)
                assert said(tables, word) == before
                dealt[0] = real
                compared += 1
                differing += real.tobytes() != mixed.tobytes()
            tables.play(word, played.prompt.names[-1])
    assert compared == MOST
    assert differing > compared / 2


def test_the_test_of_hidden_cards_would_see_them() -> None:
    """A table at which the seat's own cards are others has another position."""
    tables = Tables(TextEnvSettings())
    texts = [started(tables, "nain_jaune", preset="classic", players=3, seed=seed)[1] for seed in (1, 2)]
    assert texts[0] != texts[1]


def test_a_round_is_the_core_s_round(tmp_path: Path) -> None:
    """Texts, counts, rewards and records are those of a ``TextRound`` with the same answers."""
    file = tmp_path / "deep" / "rounds.jsonl"
    tables = Tables(QUICK, record=file)
    records = []
    for index in range(4):
        (task,) = tasks("nain_jaune", "test", 1, first=index)
        core = TextRound(task, TextEnvSettings())
        word, text = started(tables, "nain_jaune", split="test", index=index)
        answers = iter(["Move: 99", "no", "Move: 77", "Move: 0", ""] * 50)
        while core.prompt is not None:
            assert text.endswith(core.prompt.situation)
            answer = next(answers) if index == 0 else core.prompt.names[-1]
            decisions = core.decisions
            core.answer(answer)
            if core.decisions == decisions:
                with pytest.raises(IllegalActionError, match=f"^{re.escape(core.messages[-1]['content'])}$"):
                    tables.play(word, answer)
                text = tables.see(word)
            else:
                text = tables.play(word, answer)
        assert text.endswith("The round is over. Call finish for what it was worth.")
        result = tables.finish(word, regret=True)
        expected = {name: rewarded([core], dataclasses.replace(QUICK, reward=name))[0] for name in (CHIPS, EDGE, REGRET)}
        assert {name: result[name] for name in (CHIPS, EDGE, REGRET)} == {name: reward.value for name, reward in expected.items()}  # type: ignore[literal-required]
        assert (result["regret_error"], result["regret_exact"]) == expected["regret"][1:]
        assert {name: result[name] for name in ("decisions", "refused", "forfeits")} == {  # type: ignore[literal-required]
            "decisions": core.decisions, "refused": core.refused, "forfeits": core.forfeits,
        }  # fmt: skip
        assert (result["seed"], result["advice"]) == (None, 0)
        assert tables.finish(word)["regret"] is None
        tables.settings = dataclasses.replace(QUICK, adviser="none")  # what was asked once costs nothing again
        assert tables.finish(word, regret=True) == result
        tables.settings = QUICK
        records.append(core.record())
    assert [*read_records(file)] == records  # each once, in the order in which they ended


def test_forfeits_are_told_and_counted() -> None:
    tables = Tables(TextEnvSettings(retries=1))
    word, position = started(tables, "nain_jaune", preset="classic", seed=1)
    with pytest.raises(IllegalActionError, match=r"^'cards' is neither the number nor the name of a move\."):
        tables.play(word, "cards")
    assert position.endswith(tables.see(word))
    text = tables.play(word, "cards")
    assert "lowest legal move" in text.splitlines()[0]
    play_lowest(tables, word)
    result = tables.finish(word)
    assert (result["refused"], result["forfeits"]) == (2, 1)


def test_advice_counts_decisions_and_does_not_depend_on_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ADVICE_ERROR", 1e6)
    tables = Tables(TextEnvSettings(), advice=True)
    word, _ = started(tables, "nain_jaune", preset="classic", players=3, seed=5)
    played = table_of(tables, word).round
    first = tables.advice(word)
    assert first.endswith("rounds played out by zoo:strong.")
    with monkeypatch.context() as without:
        without.setattr(module, "generator", None)  # the same question costs nothing again
        assert tables.advice(word) == first
    tables.play(word, played.prompt.names[0])  # type: ignore[union-attr]
    tables.advice(word)
    play_lowest(tables, word)
    with pytest.raises(AgentError, match=r"^The round is over"):
        tables.advice(word)
    assert tables.finish(word)["advice"] == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"split": "test"}, "A task is named by game, split and index, and says preset, players, seat and seed itself."),
        ({"split": "test", "index": 0, "seed": 3}, "A task is named by game, split and index, and says "),
        ({"split": "tests", "index": 0}, "Unknown split 'tests'. Did you mean 'test'? Valid: train, test, held_out."),
        ({"players": 9}, "The preset 'djeco' is for 2 to 4 players, not 9."),
        ({"knobs": {"preset": "classic"}}, "Unknown knob 'preset'."),
        ({"knobs": {"stake": "x"}}, "The knob 'stake' is a whole number from 1 to 1000000, not 'x'."),
        ({"seat": 4}, "The model's seat is from 0 to 3, not 4."),
        ({"seed": -1}, "A seed is a whole number from 0 to "),
    ],
)
def test_a_table_that_there_cannot_be(arguments: dict[str, Any], sentence: str) -> None:
    tables = Tables(TextEnvSettings())
    with pytest.raises(NainJauneError) as error:
        tables.start("nain_jaune", **arguments)
    assert sentence in str(error.value)
    assert tables._tables == {}


def test_knobs_are_played_by_and_seeds_are_drawn() -> None:
    tables = Tables(TextEnvSettings())
    word, _ = started(tables, "nain_jaune", preset="classic", players=5, knobs={"stake": 2}, seat=3)
    other, _ = started(tables, "nain_jaune", preset="classic", players=5, knobs={"stake": 2}, seat=3)
    one, two = (table_of(tables, each).round.task for each in (word, other))
    assert (one.players, one.seat, one.knobs) == (5, 3, {"stake": 2})
    assert one.seed != two.seed
    assert max(one.seed, two.seed) >= 1 << 40  # else who holds the cards could be found by trying all seeds
    assert str(one.seed) not in tables.see(word) + tables.rules(word)


def test_old_tables_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TABLES", 2)
    tables = Tables(TextEnvSettings())
    words = [started(tables, "signal_lamps")[0] for _ in range(2)]
    tables.see(words[0])
    words.append(started(tables, "signal_lamps")[0])
    with pytest.raises(ConfigError, match=r"^There is no table '[-\w]{12}': start_round makes one"):
        tables.see(words[1])
    assert tables.see(words[0])
    assert tables.see(words[2])


def test_a_file_that_is_no_file_of_records_is_refused_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("notes\n")
    with pytest.raises(RecordError, match="Nothing is added to such a file"):
        Tables(TextEnvSettings(), record=file)
