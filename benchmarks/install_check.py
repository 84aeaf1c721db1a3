"""Checks an installation of the package in a few seconds: the environments, evaluation by workers, records, and what extras add.

It is run by the interpreter that the package is installed in, away from any checkout:

  python -P benchmarks/install_check.py                   without an extra
  python -P benchmarks/install_check.py render study      and what these extras add
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

COMMAND = Path(sysconfig.get_path("scripts"), "nainjaune")
TABLE = ("--preset", "djeco", "--players", "3", "--seed", "1")


def nainjaune(*words: str) -> str:
    """Returns what the installed command prints; raises ``RuntimeError`` with what it says where it fails."""
    done = subprocess.run([COMMAND, *words], capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"nainjaune {' '.join(words)} ended with the status {done.returncode}: {done.stderr}")
    return done.stdout


def expect(holds: object, what: str) -> None:
    """Raises ``AssertionError`` unless ``what`` holds; ``assert`` would be left out by ``python -O``."""
    if not holds:
        raise AssertionError(what)


def environments() -> None:
    """Plays a round through Gymnasium, and one through PettingZoo."""
    import gymnasium

    import nainjaune_env

    env = gymnasium.make("NainJaune-v0", preset="djeco", players=4)
    _, info = env.reset(seed=1)
    done = False
    while not done:
        _, _, done, _, info = env.step(info["action_mask"].argmax())
    table = nainjaune_env.env(preset="djeco", players=3)
    table.reset(seed=1)
    for _ in table.agent_iter():
        observation, _, ended, _, _ = table.last()
        table.step(None if ended else int(observation["action_mask"].argmax()))
    expect(not table.agents, "A round through PettingZoo ends.")


def evaluation(folder: Path) -> None:
    """Two heuristics are as strong by two processes as by one, and the records of their matches are read again."""
    words = ["evaluate", *TABLE, "--agents", "longest", "lowest", "--deals", "60"]
    records = folder / "records.jsonl"
    alone = nainjaune(*words, "--records", str(records), "--matches", "3")
    expect(nainjaune(*words, "--workers", "2") in alone, "Two workers have the results of one.")
    expect(records.read_bytes().count(b"\n") == 3, "Each match is a line of the file of records.")
    expect(b"\r" not in records.read_bytes(), "Files have the same line ends on every system.")
    nainjaune("record", "verify", str(records))
    nainjaune("record", "show", str(records))


def players(folder: Path) -> None:
    nainjaune("evaluate", *TABLE, "--deals", "20", "--agents", "zoo:strong", "lowest")


def train(folder: Path) -> None:
    config = "{algorithm: ppo, players: 3, tables: 8, iterations: 1, minibatch: 64, arch: {name: mlp, hidden: [8]}}"
    (folder / "tiny.yaml").write_text(config, encoding="utf-8")
    nainjaune("train", str(folder / "tiny.yaml"), "--out", str(folder / "run"))
    nainjaune("evaluate", *TABLE, "--deals", "20", "--agents", str(folder / "run"), "lowest")


def onnx(folder: Path) -> None:
    nainjaune("export", "zoo:strong", "--onnx", str(folder / "strong.onnx"), "--preset", "djeco", "--players", "3")
    nainjaune("evaluate", *TABLE, "--deals", "20", "--agents", f"onnx:{folder / 'strong.onnx'}", "lowest")


def sb3(folder: Path) -> None:
    from sb3_contrib import MaskablePPO

    from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

    MaskablePPO("MlpPolicy", SeatVecEnv(8, preset="djeco", players=3), n_steps=8, batch_size=32, device="cpu").learn(128)


def openspiel(folder: Path) -> None:
    import pyspiel

    import nainjaune_env.envs.open_spiel  # noqa: F401  (registers the games)

    state = pyspiel.load_game("python_nain_jaune(preset=djeco,players=3)").seeded_state(7)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])


def torchrl(folder: Path) -> None:
    from nainjaune_env.envs.torchrl_env import SeatTorchEnv

    SeatTorchEnv(8, preset="djeco", players=3).rollout(16, break_when_any_done=False)


def render(folder: Path) -> None:
    import gymnasium

    env = gymnasium.make("NainJaune-v0", preset="djeco", players=3, render_mode="rgb_array")
    env.reset(seed=1)
    expect(env.render().shape[2] == 3, "A picture has three colours.")


def study(folder: Path) -> None:
    nainjaune("study", *TABLE, "--rounds", "40", "--agents", "lowest", "--out", str(folder / "study"))


def serve(folder: Path) -> None:
    from nainjaune_agents.tables.server.server import TableServer
    from nainjaune_agents.tables.server.store import Store

    store = Store(folder / "tables.sqlite")
    try:
        TableServer(store)
    finally:
        store.close()


CHECKS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (players, train, onnx, sb3, openspiel, torchrl, render, study, serve)
}
"""What is checked of an extra, with a folder to write to."""


def main(extras: list[str]) -> None:
    """Checks, and prints a line; what is wrong raises an error."""
    with tempfile.TemporaryDirectory() as folder:
        environments()
        evaluation(Path(folder))
        for extra in extras:
            CHECKS[extra](Path(folder))
    print("checked:", ", ".join(["the package", *extras]))


if __name__ == "__main__":
    main(sys.argv[1:])
