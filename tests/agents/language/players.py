"""Players of text rounds whose results are known: agents that answer in words, by what they would do or by reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from nainjaune_agents.language.round import TextRound, field_agent, play_task
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import TextTask
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.engine.batch import Batch
from tests.agents.players.chat.endpoint import move

Answer = Callable[[TextRound], str]


def played_by(name: str, task: TextTask, settings: TextEnvSettings) -> Batch:
    """The task's table after a round in which the agent called ``name`` plays the model's seat, and never reads a word."""
    return play_task(task, load_agent(name, task.setup()), field_agent(task.setup(), settings)).batch


def plies_of(batch: Batch) -> list[tuple[int, int]]:
    assert batch.log is not None
    _, seats, actions = batch.log.episode(0)
    return [*zip(seats.tolist(), actions.tolist(), strict=True)]


def as_played(plies: list[tuple[int, int]], one: TextRound) -> str:
    """The answer that makes the move which was made at this place of another round."""
    assert one.prompt is not None
    seat, action = plies[one.table.count]
    assert seat == one.task.seat
    return one.prompt.format(action)


def as_agent(name: str, task: TextTask, settings: TextEnvSettings) -> Answer:
    """The answers of the agent called ``name``, in any game."""
    return partial(as_played, plies_of(played_by(name, task, settings)))


def reads(name: str, one: TextRound) -> str:
    """The answer of a heuristic of Nain Jaune that knows nothing but the words of the conversation: short, English, a preset."""
    rules, situation = one.messages[0]["content"], one.messages[-1]["content"]
    return f"Move: {move(name, rules, situation)}"


def play(one: TextRound, answer: Answer) -> TextRound:
    """The round, played to its end."""
    while not one.done:
        one.answer(answer(one))
    return one


def rounds(tasks: list[TextTask], settings: TextEnvSettings, name: str) -> Iterator[TextRound]:
    """The rounds of ``tasks``, with the agent called ``name`` in the model's seat."""
    for task in tasks:
        yield play(TextRound(task, settings), as_agent(name, task, settings))
