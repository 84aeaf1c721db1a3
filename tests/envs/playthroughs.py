"""Golden playthroughs in OpenSpiel's own format: all that its API gives along one random game.

``python -m tests.envs.playthroughs`` from the repository root writes them anew. Do that only where the rules, the layouts or what
the door gives were meant to change, and read the difference.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags
from open_spiel.python.algorithms import generate_playthrough

import nainjaune_env.envs.open_spiel  # noqa: F401  (enters the games)

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "playthroughs"
EXPLICIT = "preset=skip,players=3,announce=explicit,unannounced=1,ranks=8,hand=5,skip_forced=False"
CASES = {
    "nain_jaune": "python_nain_jaune",
    "nain_jaune_explicit": f"python_nain_jaune({EXPLICIT})",
    "nain_jaune_short": "python_nain_jaune(players=2,ranks=4,suits=1,hand=2,chance=deal)",
    "batasaurus": "python_batasaurus",
    "batasaurus_short": "python_batasaurus(players=3,dinosaurs=2,memory=perfect,exhausted=void,chance=deal,returns=net)",
}
SEED = 7

if not flags.FLAGS.is_parsed():  # its playthroughs read a flag, and no command line is ours to give them
    flags.FLAGS.mark_as_parsed()


def play(name: str) -> str:
    """The playthrough of one case."""
    text: str = generate_playthrough.playthrough(CASES[name], None, seed=SEED)
    return text


def replay(name: str) -> tuple[str, str]:
    """The kept playthrough, and what playing its actions again gives."""
    kept, again = generate_playthrough.replay(str(FOLDER / f"{name}.txt"))
    return kept, again


if __name__ == "__main__":
    for case in CASES:
        (FOLDER / f"{case}.txt").write_text(play(case), encoding="utf-8")
        print(f"{case}.txt")
