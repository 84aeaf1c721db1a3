"""Matches at random as records, and strategies for random rules: what the tests of records have in common."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import Recorder, log_of
from nainjaune_env.registry import make_setup


def play(
    setup: Setup, seed: int, count: int = 1, *, episode: Literal["round", "match"] = "match", **options: Any
) -> list[Record]:
    """At least ``count`` records of random play."""
    batch = Batch(setup, 1, seed=seed, episode=episode, observe=False, log=True, **options)
    recorder = Recorder(batch, [f"seat{k}" for k in range(setup.players)], seed=seed)
    choices = streams(seed, 1, stream=1)
    records: list[Record] = []
    while len(records) < count:
        batch.step(batch.sample(choices))
        records += [record for _, record in recorder.stepped()]
    return records


def logged(setup: Setup, seed: int) -> tuple[Any, list[int]]:
    """The opening of a match at random, and the action of every ply, of which the batch made forced ones by itself."""
    batch = Batch(setup, 1, seed=seed, episode="match", autoreset=False, log=True)
    choices = np.random.default_rng(seed)
    while not batch.done[0]:
        batch.step([int(choices.choice(np.flatnonzero(batch.mask[0])))])
    opening, _, actions = log_of(batch).episode(0)
    return opening, actions.tolist()


def moments(setup: Setup, seed: int) -> list[tuple[Any, dict[str, Any]]]:
    """Every table of a round at random, with its history, by which it is drawn."""
    batch, draws = Batch(setup, 1, seed=seed, skip_forced=False, autoreset=False), streams(seed, 1)
    opening, actions = batch.tables[0].copy(), list[int]()
    result = [(opening, {"opening": opening, "actions": []})]
    while not batch.done[0]:
        actions += batch.sample(draws).tolist()
        batch.step(actions[-1:])
        result.append((batch.tables[0].copy(), {"opening": opening, "actions": list(actions)}))
    return result


WIDEST = {"batasaurus": "batasaurus", "nain_jaune": "skip"}
"""By game: the preset that allows every number of seats."""
KNOBS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "batasaurus": {
        "memory": st.sampled_from(["glimpse", "perfect"]),
        "exhausted": st.sampled_from(["split", "void"]),
        "dinosaurs": st.sampled_from([2, 3, 4, 5, 12]),
    },
    "nain_jaune": {
        "decline": st.sampled_from(["never", "entry", "always"]),
        "blocked": st.sampled_from(["restart", "skip"]),
        "payment": st.sampled_from(["cards", "points"]),
        "stranded": st.sampled_from(["none", "match_pot", "twice_pot", "twice_ante"]),
        "grand_opera": st.sampled_from(["first_turn", "single_turn", "no_rival_card"]),
        "announce": st.sampled_from(["automatic", "explicit"]),
        "unannounced": st.integers(0, 2),
        "stake": st.integers(1, 3),
        "starting_stack": st.sampled_from([None, 45, 60]),
        "end_on_default": st.booleans(),
        "max_rounds": st.integers(1, 2),
    },
}


@st.composite
def setups(draw: st.DrawFn, game: str | None = None) -> Setup:
    """A game (None: any) under random rules, in matches of at most two rounds."""
    game = draw(st.sampled_from(sorted(KNOBS))) if game is None else game
    plain = make_setup(game, WIDEST[game])
    players = draw(st.sampled_from(plain.game.presets[WIDEST[game]].players))
    return make_setup(game, WIDEST[game], players, **{name: draw(values) for name, values in KNOBS[game].items()})


seeds = st.integers(0, 2**32)
