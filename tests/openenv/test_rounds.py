"""Rounds over the wire are the core's: the same decisions, counts and rewards, in sessions that go on at the same time."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from nain_jaune_env.client import NainJauneEnv
from nain_jaune_env.models import NainJauneAction
from nain_jaune_env.server.environment import NainJauneEnvironment
from openenv.core.client_types import StepResult

from nainjaune_agents.language.rewards import rewarded
from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import EDGE, REGRET, TextEnvSettings
from nainjaune_agents.language.tasks import HELD_OUT, SPLITS, TEST, TRAIN, TextTask, tasks
from nainjaune_env.registry import game_names
from tests.agents.language.players import as_agent
from tests.agents.language.players import play as in_process
from tests.agents.players.chat.conftest import Local
from tests.agents.players.chat.endpoint import misbehaved
from tests.openenv.conftest import SETTINGS
from tests.openenv.rounds import Model, again, model_at, play

SESSIONS = 8


def some_tasks(*splits: str) -> Iterator[TextTask]:
    """Tasks of ``splits`` in turn, without end."""
    for index in itertools.count():
        yield from (tasks("nain_jaune", split, 1, first=index)[0] for split in splits)


def test_a_thousand_decisions_of_closer_are_its_own(url: str, endpoint: Local) -> None:
    # the endpoint's model knows the presets as they are, and nothing of knobs set over them
    left, decisions = (task for task in some_tasks(TRAIN, TEST) if not task.knobs), Counter[str]()

    async def session(env: NainJauneEnv, model: Model) -> None:
        while decisions["all"] < 1000:
            task = next(left)
            result, state = await play(env, model, split=task.split, index=task.index)
            own = in_process(TextRound(task, SETTINGS), as_agent("closer", task, SETTINGS))
            assert result.observation.messages == own.messages
            assert result.reward == 0.0
            assert (state.decisions, state.step_count, state.refused, state.forfeits) == (own.decisions, own.decisions, 0, 0)
            decisions.update({"all": own.decisions, task.split: own.decisions})

    async def sessions() -> None:
        async with model_at(endpoint.url, "closer") as model, NainJauneEnv(base_url=url) as first:
            others = [await first.new_session() for _ in range(SESSIONS - 1)]
            await asyncio.gather(*(session(env, model) for env in (first, *others)))

    asyncio.run(sessions())
    assert min(decisions[TRAIN], decisions[TEST]) > 100


def test_rewards_are_the_cores(rewarding: tuple[str, TextEnvSettings], endpoint: Local) -> None:
    """Those of sessions that end at the same time, too."""
    url, settings = rewarding
    of_tasks = tasks("nain_jaune", TRAIN, SESSIONS)

    async def rounds() -> list[StepResult]:
        async with model_at(endpoint.url, "longest") as model, NainJauneEnv(base_url=url) as first:
            envs = [first, *[await first.new_session() for _ in of_tasks[1:]]]
            played = await asyncio.gather(*(play(env, model, index=index) for index, env in enumerate(envs)))
            return [result for result, _ in played]

    results = asyncio.run(rounds())
    for task, result in zip(of_tasks, results, strict=True):
        own = in_process(TextRound(task, settings), as_agent("longest", task, settings))
        assert result.observation.messages == own.messages
        (reward,) = rewarded([own], settings)
        assert (result.reward, result.metadata["error"], result.metadata["exact"]) == reward
        assert result.metadata["payoff"] == own.payoff
    values = {result.reward for result in results}
    assert len(values) > 3
    if settings.reward == REGRET:
        assert min(values) < -1


@pytest.mark.parametrize("game", game_names())
def test_any_game_is_played(game: str) -> None:
    """Without a server, in each split."""
    settings = TextEnvSettings(reward=EDGE)
    env = NainJauneEnvironment(game, settings)
    for split in SPLITS:
        (task,) = tasks(game, split, 1, first=2)
        own, answer = TextRound(task, settings), as_agent("random", task, settings)
        seen = env.reset(split=split, index=2)
        while not own.done:
            assert (seen.messages, seen.done) == (own.messages, False)
            text = answer(own)
            own.answer(text)
            seen = env.step(NainJauneAction(text=text))
        assert (seen.messages, seen.done) == (own.messages, True)
        assert seen.reward == rewarded([own], settings)[0].value
        assert seen.metadata["payoff"] == own.payoff


LONE = "\ud83c"
TEXTS = (
    LONE,
    f"Move: 1{LONE}",
    "\x00" * 99,
    "Move: " + "9" * 400_000,
    "</s>" * 50_000,
    "﷽" * 20_000,
    '{"done": true, "reward": 1e9}',
)


def texts(messages: list[dict[str, str]]) -> str:
    """An answer that is good now and then, drawn by the conversation."""
    body = repr(messages).encode(errors="replace")
    rng = random.Random(body)
    if rng.random() < 0.2:
        return rng.choice(TEXTS)
    deeds = ("move", "talk", "empty", "refusal", "injection", "unknown", "several", "json", "cut", "huge")
    content = misbehaved(body, next(text["content"] for text in reversed(messages) if "Legal moves: " in text["content"]), deeds)[
        1
    ]
    return str(content)


def test_a_thousand_answers_of_any_kind_cost_only_their_decisions(url: str) -> None:
    async def fuzz() -> Counter[str]:
        counts, left = Counter[str](), some_tasks(*SPLITS)
        async with NainJauneEnv(base_url=url) as env:
            while counts["step_count"] < 1000:
                task, told = next(left), []

                async def model(messages: list[dict[str, str]], told: list[str] = told) -> str:
                    told.append(texts(messages))
                    return told[-1]

                result, state = await play(env, model, split=task.split, index=task.index)
                played = again(task, replace(SETTINGS, reward=EDGE), [NainJauneAction(text=text).text for text in told])
                assert played.done
                assert played.messages == result.observation.messages
                of_state = {name: getattr(state, name) for name in ("step_count", "decisions", "refused", "forfeits")}
                assert [*of_state.values()] == [len(told), played.decisions, played.refused, played.forfeits]
                assert state.step_count == state.decisions - state.forfeits + state.refused
                counts.update(of_state)
        return counts

    counts = asyncio.run(fuzz())
    assert counts["refused"] > 300
    assert 0.1 < counts["forfeits"] / counts["decisions"] < 0.9


def test_a_seat_that_says_nothing_forfeits_by_the_rule(url: str) -> None:
    async def silent() -> None:
        async with NainJauneEnv(base_url=url) as env:
            result = await env.reset(index=0)
            first = result.observation.messages
            for count in (1, 2):
                result = await env.step(NainJauneAction(text=""))
                assert len(result.observation.messages) == len(first) + 2 * count
                assert result.observation.messages[-1]["content"].startswith("Your answer was empty.")
            result = await env.step(NainJauneAction(text=""))
            assert "the lowest legal move was made for you" in result.observation.messages[-1]["content"]
            assert result.observation.messages[-1]["role"] == "user"
            state = await env.state()
            assert (state.step_count, state.decisions, state.refused, state.forfeits) == (3, 1, 3, 1)

    asyncio.run(silent())


def test_nothing_but_the_conversation_reaches_the_model(url: str) -> None:
    """The texts are the core's, which tests permute the hidden cards of; nothing stands beside them before the end."""

    async def seen() -> tuple[dict[str, Any], dict[str, Any]]:
        async with NainJauneEnv(base_url=url) as env:
            result = await env.reset(split=HELD_OUT, index=5)
            return result.observation.model_dump(), (await env.state()).model_dump()

    observation, state = asyncio.run(seen())
    (task,) = tasks("nain_jaune", HELD_OUT, 1, first=5)
    assert observation == {"messages": again(task, SETTINGS, ()).messages, "done": False, "reward": 0.0, "metadata": {}}
    assert state.keys() == {"episode_id", "step_count", "split", "index", "decisions", "refused", "forfeits"}


@pytest.mark.parametrize("which", [{"seed": 4}, {"index": 4, "seed": 9}])
def test_a_seed_is_the_number_of_the_task_where_there_is_none(which: dict[str, int], url: str) -> None:
    async def told() -> list[Any]:
        async with NainJauneEnv(base_url=url) as env:
            named = await env.reset(**which, episode_id="mine")
            assert (await env.state()).episode_id == "mine"
            following = [await env.reset(), await env.reset()]
            assert (await env.state()).index == 6
            return [named.observation.messages, *(result.observation.messages for result in following)]

    assert asyncio.run(told()) == [again(task, SETTINGS, ()).messages for task in tasks("nain_jaune", TRAIN, 3, first=4)]
