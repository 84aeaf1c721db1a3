"""Plays rounds of NainJaune-v0 with random legal moves: `python textarena/tests/test_NainJaune_v0.py`."""

import random, re

import textarena as ta


def moves_of(text):
    return re.findall(r"\[([^\[\]]*)\]", text.rsplit("Your moves: ", 1)[1].split("\n")[0])


def test_random_rounds():
    for env_id in ("NainJaune-v0", "NainJaune-v0-train"):
        for num_players in (2, 3, 4):
            for seed in range(20):
                env = ta.make(env_id)
                env.reset(num_players=num_players, seed=seed)
                rng, done = random.Random(seed), env.state.done
                while not done:
                    _, observation = env.get_observation()
                    done, _ = env.step(f"[{rng.choice(moves_of(observation))}]")
                rewards, info = env.close()
                now = env.state.game_state["round"]
                assert sum(now.chips) + sum(now.pots) == 0
                assert abs(sum(rewards.values())) < 1e-9 and max(rewards.values()) <= 1
                assert not any(info[pid]["invalid_move"] for pid in range(num_players))


def test_second_invalid_move_ends_the_game():
    env = ta.make("NainJaune-v0")
    env.reset(num_players=3, seed=1)
    pid, _ = env.get_observation()
    done, _ = env.step("I play [Z]")
    assert not done and env.get_observation()[0] == pid
    done, _ = env.step("[A] or [2]")
    rewards, info = env.close()
    assert done and info[pid]["invalid_move"]
    assert rewards == {player: -1 if player == pid else 0 for player in range(3)}


def test_words_of_a_player_are_not_shown_to_the_others():
    env = ta.make("NainJaune-v0")
    env.reset(num_players=2, seed=1)
    pid, observation = env.get_observation()
    env.step(f"I hold three secret kings. [{moves_of(observation)[0]}]")
    for player, messages in env.env.env.state.observations.items():
        assert player == pid or not any("secret" in message for _, message, _ in messages)


if __name__ == "__main__":
    test_random_rounds()
    test_second_invalid_move_ends_the_game()
    test_words_of_a_player_are_not_shown_to_the_others()
    print("NainJaune-v0 passes.")
