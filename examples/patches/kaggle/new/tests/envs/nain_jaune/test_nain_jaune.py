import pytest

from kaggle_environments import make


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_rounds_end_with_chips_conserved(players):
    for seed in range(5):
        env = make("nain_jaune", configuration={"seed": seed})
        env.run(["random"] * players)
        result = env.toJSON()
        assert result["statuses"] == ["DONE"] * players
        assert sum(result["rewards"]) + sum(env.state[0].observation.pots) == 0
        assert 0 in env.state[0].observation.cardsLeft


def test_a_seed_gives_the_same_round_and_is_hidden():
    rounds = []
    for _ in range(2):
        env = make("nain_jaune", configuration={"seed": 3})
        env.run(["lowest"] * 3)
        assert env.configuration.seed is None
        assert env.info["seed"] == 3
        rounds.append(env.state[0].observation.history)
    assert rounds[0] == rounds[1]


def test_agents_see_their_own_hand_only():
    seen = []

    def agent(observation):
        seen.append(observation)
        return observation.legalActions[0]

    env = make("nain_jaune", configuration={"seed": 1})
    env.run([agent, "lowest", "lowest"])
    assert all(observation.player == observation.currentPlayer == 0 for observation in seen)
    assert all(sum(observation.hand) == observation.cardsLeft[0] for observation in seen)
    assert not any(key in observation for observation in seen for key in ("hands", "seed"))


@pytest.mark.parametrize(("action", "status"), [(18, "INVALID"), (99, "INVALID"), ("A", "INVALID")])
def test_illegal_actions_end_the_round(action, status):
    env = make("nain_jaune", configuration={"seed": 1})
    env.run([lambda observation: action, "lowest", "lowest"])  # the lead cannot be passed
    result = env.toJSON()
    assert result["statuses"] == [status, "DONE", "DONE"]
    assert result["rewards"] == [None, 0, 0]


def test_a_crash_ends_the_round():
    def crash(observation):
        raise RuntimeError("no move")

    env = make("nain_jaune", configuration={"seed": 1})
    env.run(["lowest", crash, "lowest"])
    assert env.toJSON()["statuses"] == ["DONE", "ERROR", "DONE"]


def test_training_and_rendering():
    env = make("nain_jaune", configuration={"seed": 2})
    trainer = env.train([None, "random", "random"])
    observation = trainer.reset()
    done = False
    while not done:
        observation, reward, done, _ = trainer.step(observation.legalActions[0])
    assert "pots: Td" in env.render(mode="ansi")
