"""Rounds as tasks of verifiers, and rewards from what a model has answered."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_type_hints

import verifiers.v1 as vf
from msgspec.structs import fields
from pydantic import Field, create_model, model_validator

from nainjaune_agents.language.rewards import chips, edge, rewarded
from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import CHIPS, EDGE, TextEnvSettings
from nainjaune_agents.language.tasks import SPLITS, TextTask, tasks
from nainjaune_env.games import DEFAULT_GAME

_scoring = threading.Lock()
"""Rounds are valued one after another: what values them is not made for several threads."""


class _CheckedConfig(vf.TaskConfig):
    @model_validator(mode="after")
    def _check(self) -> _CheckedConfig:
        self.settings()
        return self

    def settings(self) -> TextEnvSettings:
        """Returns the settings of rounds."""
        return TextEnvSettings(**{name: getattr(self, name) for name in TextEnvSettings.__struct_fields__})


RoundConfig = create_model(
    "RoundConfig",
    __base__=_CheckedConfig,
    __doc__="What holds for every round: the options of ``TextEnvSettings``.",
    __module__=__name__,
    **{
        f.name: (get_type_hints(TextEnvSettings)[f.name], Field(f.default, description=get_args(f.type)[-1]))
        for f in fields(TextEnvSettings)
    },
)


class RoundData(vf.TaskData):
    """A task; its system prompt are the rules."""

    round: dict[str, Any]
    """As ``TextTask`` writes it."""


class RoundTask(vf.Task[RoundData, vf.State, RoundConfig]):
    """One round."""

    def dealt(self) -> TextRound:
        """Returns the round before the model's first decision."""
        return TextRound(TextTask.from_dict(self.data.round), self.config.settings())

    def played(self, trace: vf.Trace) -> TextRound:
        """Returns the finished round, played again from the answers in ``trace``."""
        round = self.dealt()
        for text, is_cut in answers(trace):
            round.answer(text, is_cut=is_cut)
        round.give_up()
        return round

    @vf.metric
    async def counts(self, trace: vf.Trace) -> dict[str, float]:
        """Returns chips and duplicate edge, the reward with its standard error, and numbers of decisions and answers."""
        return await asyncio.to_thread(self._counts, trace)

    def _counts(self, trace: vf.Trace) -> dict[str, float]:
        with _scoring:
            round = self.played(trace)
            (reward,) = rewarded([round], round.settings)
            return {
                CHIPS: chips(round).value,
                EDGE: edge(round).value,
                round.settings.reward: reward.value,
                f"{round.settings.reward}_error": reward.error,
                **{name: float(getattr(round, name)) for name in ("decisions", "calls", "refused", "forfeits")},
            }

    @vf.reward
    async def worth(self, trace: vf.Trace) -> dict[str, float]:
        """Returns the reward of the settings, by its name; metrics are there before rewards are."""
        return {self.config.reward: trace.metrics[self.config.reward]}


def answers(trace: vf.Trace) -> list[tuple[str, bool]]:
    """Returns a model's answers in order: their texts, and whether they were cut."""
    cut = {call.node for call in trace.calls if call.finish_reason == "length"}
    return [(node.message.content or "", number in cut) for number, node in enumerate(trace.nodes) if node.sampled]


class RoundTasksetConfig(vf.TasksetConfig):
    """Which rounds are played."""

    game: str = DEFAULT_GAME
    split: Literal[SPLITS] = SPLITS[0]
    knobs: dict[str, Any] = Field(default_factory=dict)
    """The same in all tasks, such as ``{"memory": "perfect"}``."""
    task: RoundConfig = RoundConfig()


class RoundTaskset(vf.Taskset[RoundTask, RoundTasksetConfig]):
    """The tasks of a split, without end, but for rounds in which the model has no decision."""

    INFINITE = True

    def load(self) -> Iterator[RoundTask]:
        """Yields the tasks in order; raises ``NainJauneError`` for a game, knobs or settings that are not there."""
        config = self.config
        for index in itertools.count():
            (task,) = tasks(config.game, config.split, 1, first=index, knobs=config.knobs)
            round = TextRound(task, config.task.settings())
            if not round.done:
                rules = round.messages[0]["content"]
                data = RoundData(name=f"{task.game}-{task.split}-{index}", system_prompt=rules, round=task.to_dict())
                yield RoundTask(data, config.task)
