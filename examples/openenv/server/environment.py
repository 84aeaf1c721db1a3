"""``NainJauneEnvironment``: one session of OpenEnv's server, in which a round is played after another."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any
from uuid import uuid4

from nain_jaune_env.models import NainJauneAction, NainJauneObservation, NainJauneState
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from nainjaune_agents.language.rewards import rewarded
from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import HELD_OUT, MAX_INDEX, SPLITS, TEST, TRAIN, TextTask, tasks
from nainjaune_env.core.errors import ConfigError, IllegalActionError, quoted, unknown_name_message
from nainjaune_env.core.extras import DISTRIBUTION
from nainjaune_env.core.validation import check_whole
from nainjaune_env.registry import get_game

ARGUMENTS = ("seed", "episode_id", "split", "index")
"""Of ``reset``: the server would drop others without a word."""
MAX_LISTED = 100
"""The most tasks that are listed at a time."""


class NainJauneEnvironment(Environment):
    """A session: each has its own round, and any number of them may go on at the same time.

    It also lists the tasks, as OpenEnv's ``TaskProvider``: every split has 2**32 of them.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, settings: TextEnvSettings) -> None:
        """Raises :class:`RulesError` for an unknown game."""
        super().__init__()
        self._game = get_game(game)
        self._settings = settings
        self._round: TextRound | None = None
        self._episode_id: str | None = None
        self._next = 0
        """The task of a reset that names none."""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = TRAIN,
        index: int | None = None,
        **others: Any,
    ) -> NainJauneObservation:
        """Begins the round of task ``index`` of ``split``; its deal and all draws are the task's.

        Without ``index`` the ``seed`` is the index, and without both it is the session's next task. Raises ``NainJauneError`` for
        arguments that are none; the round that was being played goes on then.
        """
        if others:
            raise ConfigError(unknown_name_message("argument of reset", next(iter(others)), ARGUMENTS))
        if not isinstance(episode_id, str | None):
            raise ConfigError(f"An episode_id is a text, not {quoted(episode_id)}.")
        given = index if index is not None else seed if seed is not None else self._next
        (task,) = self._tasks(split, given, 1)
        self._round = TextRound(task, self._settings)
        self._episode_id = episode_id or str(uuid4())
        self._next = (task.index + 1) % (MAX_INDEX + 1)
        return self._observation()

    def step(self, action: NainJauneAction, timeout_s: float | None = None) -> NainJauneObservation:
        """Reads an answer: one that means no legal move is refused with a sentence in ``messages``, until the seat forfeits.

        Raises :class:`IllegalActionError` before the first reset, and :class:`AgentError` when the round is over.
        """
        if self._round is None:
            raise IllegalActionError("There is no round yet: reset begins one.")
        self._round.answer(action.text)
        return self._observation()

    @property
    def state(self) -> NainJauneState:
        """The task and the counts of the round."""
        played = self._round
        if played is None:
            return NainJauneState()
        return NainJauneState(
            episode_id=self._episode_id,
            step_count=played.calls,
            split=played.task.split,
            index=played.task.index,
            decisions=played.decisions,
            refused=played.refused,
            forfeits=played.forfeits,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Returns what OpenEnv's server says of the environment."""
        description = f"One seat of {self._game.title} for a player of texts, and a reward by {self._settings.reward}"
        return EnvironmentMetadata(name=self._game.name, description=description, version=version(DISTRIBUTION))

    def list_splits(self) -> list[dict[str, str]]:
        """Returns the splits: ``held_out`` is for tests, too."""
        return [{"name": split, "type": TEST if split == HELD_OUT else split} for split in SPLITS]

    def num_tasks(self, split: str) -> int:
        """Returns the number of tasks of a split."""
        self._tasks(split, 0, 0)
        return MAX_INDEX + 1

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Returns the first tasks of a split."""
        return self.get_task_range(split, 0, MAX_LISTED)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Returns a task; raises ``NainJauneError`` for an unknown split or a number that is no task's."""
        return self._tasks(split, index, 1)[0].to_dict()

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Returns the tasks of a slice, at most ``MAX_LISTED``; raises ``NainJauneError`` for more."""
        places = range(MAX_INDEX + 1)[start:stop]
        if len(places) > MAX_LISTED:
            raise ConfigError(f"At most {MAX_LISTED} tasks are listed at a time, not {len(places):,}.")
        return [task.to_dict() for task in self._tasks(split, places.start, len(places))]

    def _tasks(self, split: str, first: int, count: int) -> list[TextTask]:
        check_whole("The index of a task", first, 0, MAX_INDEX)
        return tasks(self._game.name, split, count, first=first)

    def _observation(self) -> NainJauneObservation:
        played = self._round
        assert played is not None
        if not played.done:
            return NainJauneObservation(messages=played.messages, reward=0.0)
        reward = rewarded([played], self._settings)[0]
        metadata = {"payoff": played.payoff, "error": reward.error, "exact": reward.exact}
        return NainJauneObservation(messages=played.messages, reward=reward.value, done=True, metadata=metadata)
