"""Matches at random as records, and strategies for random rules: what the tests of records have in common."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from nainjaune_env.batch import Batch
from nainjaune_env.prng import streams
from nainjaune_env.record import Record
from nainjaune_env.recorder import Recorder
from nainjaune_env.registry import make_setup
from nainjaune_env.spec import Setup


def play(
    setup: Setup, seed: int, count: int = 1, *, episode: Literal["round", "match"] = "match", **options: Any
) -> list[Record]:
    """At least ``count`` records of random play."""
    batch = Batch(setup, 1, seed=seed, episode=episode, observe=False, **options)
    recorder = Recorder(batch, [f"seat{k}" for k in range(setup.players)], rng=np.random.default_rng(seed), seed=seed)
    choices = streams(seed, 1, stream=1)
    records: list[Record] = []
    while len(records) < count:
        actions = batch.sample(choices)
        batch.step(actions)
        records += [record for _, record in recorder.stepped(actions)]
    return records


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    """Nain Jaune under random rules, in matches of at most two rounds."""
    knobs = {
        "decline": draw(st.sampled_from(["never", "entry", "always"])),
        "blocked": draw(st.sampled_from(["restart", "skip"])),
        "payment": draw(st.sampled_from(["cards", "points"])),
        "stranded": draw(st.sampled_from(["none", "match_pot", "twice_pot", "twice_ante"])),
        "grand_opera": draw(st.sampled_from(["first_turn", "single_turn", "no_rival_card"])),
        "announce": draw(st.sampled_from(["automatic", "explicit"])),
        "unannounced": draw(st.integers(0, 2)),
        "stake": draw(st.integers(1, 3)),
        "starting_stack": draw(st.sampled_from([None, 45, 60])),
        "end_on_default": draw(st.booleans()),
        "max_rounds": draw(st.integers(1, 2)),
    }
    return make_setup("nain_jaune", "skip", draw(st.integers(2, 8)), **knobs)


seeds = st.integers(0, 2**32)
