"""Faults by bot: counted with units of work, merged, and in words."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from nainjaune_agents.measure.timing import TimedAgent
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.counting import BotCounts, counted, faults_of, words
from nainjaune_agents.players.program.faults import FaultCounts
from nainjaune_agents.players.search import searching
from nainjaune_agents.tables.server.players import OneAtATime
from tests.agents.players.program.programs import SETUP, loaded, lowest

MADE = FaultCounts(Counter(timeout=1, illegal=2), 12_000, 40)


def test_words() -> None:
    assert words(MADE) == "3 faults (2 illegal, 1 timeout), 40 of 12,000 decisions forfeited"
    assert words(FaultCounts(Counter(exit=1), 1, 1)) == "1 fault (1 exit), 1 of 1 decisions forfeited"


def test_agents_that_ask_a_bot_have_its_counts() -> None:
    with loaded(lowest()) as bot:
        for agent in (bot, TimedAgent(bot), OneAtATime(bot), searching(bot, 2, SETUP)):
            assert faults_of(agent) is bot.faults
        by_other = searching(load_agent("tally", SETUP), 2, SETUP, rollouts=bot)
        assert faults_of(by_other) is bot.faults
    assert faults_of(load_agent("tally", SETUP)) is None


def test_units_have_the_counts_since_the_last_one_and_sums_merge_them() -> None:
    bot, other = SimpleNamespace(name="exec:b", faults=FaultCounts(Counter(exit=7), 7, 7)), SimpleNamespace(name="tally")

    def play(unit: int) -> dict[str, object]:
        bot.faults.add(FaultCounts(Counter(["timeout"] * unit), 10, unit))
        return {"gains": unit}

    playing, total = counted(play, [bot, other]), BotCounts()
    for unit in (1, 0, 2):
        payload = playing(unit)
        assert payload["gains"] == unit
        assert payload["bots"] == {"exec:b": {"decisions": 10, "forfeited": unit, "faults": {"timeout": unit} if unit else {}}}
        total.add(payload)
    assert total == BotCounts({"exec:b": FaultCounts(Counter(timeout=3), 30, 3)})
    assert total.lines() == ["exec:b: 3 faults (3 timeout), 3 of 30 decisions forfeited"]
