"""Golden records: matches that must replay, and be played again, to the letter.

``python -m tests.golden`` from the repository root writes them anew, one file a case, with the account of
one of each game in both languages. Do that only where the rules, the deals of a seed or the format were meant to change, and
read the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import Recorder
from nainjaune_env.registry import make_setup

FOLDER = Path(__file__).resolve().parent
SHOWN = ("djeco", "batasaurus_glimpse_3")
"""The cases whose accounts are kept too, as ``<case>.<language>.txt``."""


@dataclass(frozen=True)
class Case:
    """A match between players who choose at random."""

    game: str
    preset: str
    players: int
    seed: int
    knobs: dict[str, Any] = field(default_factory=dict)


EXPLICIT = {"announce": "explicit", "unannounced": 1, "decline": "always", "max_rounds": 2}
CASES = {
    "djeco": Case("nain_jaune", "djeco", 4, 1),
    "classic": Case("nain_jaune", "classic", 5, 2, {"max_rounds": 3}),
    "skip": Case("nain_jaune", "skip", 3, 3),
    "tableau": Case("nain_jaune", "tableau", 3, 4, {"max_rounds": 3}),
    "explicit": Case("nain_jaune", "djeco", 2, 5, EXPLICIT),
    "batasaurus_glimpse_3": Case("batasaurus", "batasaurus", 3, 28),
    "batasaurus_perfect_2": Case("batasaurus", "batasaurus", 2, 94, {"memory": "perfect"}),
    "batasaurus_short_4": Case("batasaurus", "batasaurus", 4, 26, {"dinosaurs": 5, "exhausted": "void"}),
}


def cases(game: str) -> list[str]:
    """Names of the cases of one game."""
    return [name for name, case in CASES.items() if case.game == game]


def play(case: Case) -> Record:
    """The record of ``case``."""
    setup = make_setup(case.game, case.preset, case.players, **case.knobs)
    batch = Batch(setup, 1, seed=case.seed, episode="match", observe=False, log=True)
    names = [f"random:{seat}" for seat in range(case.players)]
    recorder = Recorder(batch, names, seed=case.seed)
    choices = streams(case.seed, 1, stream=1)
    while True:
        batch.step(batch.sample(choices))
        for _, record in recorder.stepped():
            return record
