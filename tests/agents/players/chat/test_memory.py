"""What a seat is shown once stays in the conversations of its round, and nowhere else."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.players.chat.memory import MAX_SHOWN, memory_fields, remember, remembered
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import STOP
from nainjaune_env import TextSeat, make_setup
from nainjaune_env.agent import DecisionBatch, is_recurrent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch
from tests.agents.players.chat.conftest import SETUP, Local, loaded, without_costs

GLIMPSE = make_setup("batasaurus", players=3)
LAMPS = make_setup("signal_lamps")


def test_a_model_remembers_where_its_cards_lie(local: Local, tmp_path: Path) -> None:
    rivals = [load_agent("highest", GLIMPSE)]
    expected = cross_table(GLIMPSE, [load_agent("cheapest", GLIMPSE), *rivals], deals=2, seed=5)
    with loaded(local, "cheapest", tmp_path, setup=GLIMPSE, on_fault=STOP) as agent:
        played = cross_table(GLIMPSE, [agent, *rivals], deals=2, seed=5)
        assert without_costs(played, "chat:cheapest") == without_costs(expected, "cheapest")
        asked = local.asked()
        assert len(asked) > 100
        for row in asked:  # the look is no question; each later one has it as it was
            system, look, looked, _ = row["body"]["messages"]
            assert (system["role"], look["role"], looked) == ("system", "user", {"role": "assistant", "content": "Move: 12"})
            assert "memorise your cards" in look["content"]
            assert "slot 0: " in look["content"]
        assert len({row["digest"] for row in asked}) == len(asked)
        again = cross_table(GLIMPSE, [agent, *rivals], deals=2, seed=5)
        assert again.bots.to_dict() == played.bots.to_dict()
        assert local.asked() == []


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_game_that_only_memory_solves_is_solved_in_each_of_several_rounds(language: str, local: Local, tmp_path: Path) -> None:
    with loaded(local, "lamps", tmp_path, setup=LAMPS, language=language, on_fault=STOP) as agent:
        batch = Batch(LAMPS, 4, seed=3, episode="match", autoreset=False)
        payoff = play_out(batch, [agent], np.zeros((4, 2), np.int64), [np.random.default_rng(0)])
        assert payoff.tolist() == [[5, 5]] * 4
    shown = [row["body"]["messages"] for row in local.asked()]
    assert shown
    assert {len(messages) for messages in shown} == {4}
    now = {messages[3]["content"].splitlines()[1] for messages in shown}
    assert {line[-5:] for line in now} == {"0 0 0"}


def test_only_where_seats_are_shown_something_is_there_a_state(local: Local, tmp_path: Path) -> None:
    for setup in (SETUP, make_setup("batasaurus", memory="perfect")):
        with loaded(local, "closer", tmp_path, setup=setup) as agent:
            assert not is_recurrent(agent, setup)
    with loaded(local, "closer", tmp_path, setup=GLIMPSE) as agent:
        assert is_recurrent(agent, GLIMPSE)
        batch = Batch(GLIMPSE, 1, seed=1)
        with pytest.raises(AgentError, match="come without a recurrent state"):
            agent.act(DecisionBatch(batch, np.array([0]), None), np.random.default_rng(0))


def test_the_last_tables_that_were_shown_are_remembered_in_their_order() -> None:
    seat, batch = TextSeat(LAMPS), Batch(LAMPS, 3, seed=2)
    state = np.zeros(3, np.dtype(memory_fields(LAMPS)))
    shown: list[list[str]] = [[], [], []]
    for count in range(MAX_SHOWN + 2):
        batch.reset(seed=count)
        decisions = DecisionBatch(batch, np.arange(3), state)
        assert [[one.situation for one in prompts] for prompts in remembered(seat, decisions)] == [
            each[-MAX_SHOWN:] for each in shown
        ]
        for each, prompt in zip(shown, seat.prompts(decisions), strict=True):
            each.append(prompt.situation)
        remember(decisions)
    assert len({*itertools.chain(*shown)}) > 3
    for _ in range(4):  # a decision with a choice is nothing to remember
        batch.step(np.array([int(bits & -bits).bit_length() - 1 for bits in batch.legal.tolist()]))
    assert (batch.legal & (batch.legal - 1) != 0).all()
    kept = state.tobytes()
    remember(DecisionBatch(batch, np.arange(3), state))
    assert state.tobytes() == kept
