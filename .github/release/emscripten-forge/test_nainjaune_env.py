"""Plays a round in a browser, as emscripten-forge tests its packages."""


def test_a_round_ends() -> None:
    import gymnasium

    import nainjaune_env  # noqa: F401  it registers the environment

    env = gymnasium.make("NainJaune-v0", players=4)
    _, info = env.reset(seed=7)
    payoff, done = 0.0, False
    while not done:
        _, reward, done, _, info = env.step(env.action_space.sample(info["action_mask"]))
        payoff += float(reward)
    assert payoff == int(payoff)
