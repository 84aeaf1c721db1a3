"""First use from several threads at once, in a process of its own: what each thread plays, as a digest.

python -m tests.support.first_use THREADS SEED
"""

from __future__ import annotations

import functools
import hashlib
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from tests.support.source import ROOT

GAMES = ("nain_jaune", "batasaurus", "signal_lamps")
USES = ("tables", "environment", "match", "history", "hint")


def play(use: str, game: str) -> bytes:
    """Imports what it needs, plays ``game`` for a while and returns its last tables and observations."""
    import numpy as np

    from nainjaune_agents.players.loading import load_agent
    from nainjaune_env.agent import DecisionBatch
    from nainjaune_env.core.prng import streams
    from nainjaune_env.engine.batch import Batch
    from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
    from nainjaune_env.registry import make_setup

    setup = make_setup(game)
    if use == "environment":
        env = SeatVectorEnv(3, preset=setup.preset, opponents="random")
        observations = [env.reset(seed=1)[0]]
        for _ in range(5):
            observations.append(env.step(env.action_masks().argmax(axis=1))[0])
        return repr(observations).encode()
    history = use == "history" and setup.game.rewind is not None
    batch = Batch(setup, 4, seed=1, episode="match" if use == "match" else "round", log=history)
    if use == "hint":
        decisions = DecisionBatch(batch, np.arange(4))
        return load_agent(first_rule(game), setup).act(decisions, np.random.default_rng(1)).tobytes()
    if history:
        from nainjaune_env.engine.history import history_of

        batch.step(batch.sample(streams(1, 4)))
        return history_of(batch, np.arange(4)).action.tobytes()
    draws = streams(1, 4)
    for _ in range(20):
        batch.step(batch.sample(draws))
    return batch.tables.tobytes() + batch.observation.tobytes()


def first_rule(game: str) -> str:
    """Returns the name of a heuristic of ``game``."""
    from nainjaune_agents.players.loading import named_agents

    return next(iter(named_agents(game)))


def together(calls: Sequence[Callable[[], str]]) -> list[str]:
    """Makes all ``calls`` at once, each in a thread; returns the result, or the error, of each."""
    start, results = threading.Barrier(len(calls)), [""] * len(calls)

    def work(number: int) -> None:
        start.wait()
        try:
            results[number] = calls[number]()
        except BaseException as error:
            results[number] = f"{type(error).__name__}: {error}".replace("\n", " ")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def random_uses(threads: int, seed: int) -> list[tuple[str, str]]:
    """Returns what each thread does and with which game; some do the same."""
    rng = random.Random(seed)
    some = [(rng.choice(USES), rng.choice(GAMES)) for _ in range(3)]
    return [some[number % len(some)] for number in range(threads)]


def results_of_a_process(threads: int, seed: int) -> list[tuple[str, str, str]]:
    """Returns (use, game, digest or error) of each thread of a new process."""
    command = [sys.executable, "-m", __name__, str(threads), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    uses = random_uses(threads, seed)
    return [(*one, line) for one, line in zip(uses, done.stdout.splitlines(), strict=True)]


def digest(use: str, game: str) -> str:
    """Returns the SHA-256 of what :func:`play` returns."""
    return hashlib.sha256(play(use, game)).hexdigest()


def main() -> None:
    """Prints a line for each thread: the digest, or its error."""
    calls = [functools.partial(digest, *one) for one in random_uses(int(sys.argv[1]), int(sys.argv[2]))]
    sys.setswitchinterval(1e-5)
    print("\n".join(together(calls)))


if __name__ == "__main__":
    main()
