"""A small plan of a comparison: seconds of training in all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def small_plan(folder: Path, **changed: Any) -> Path:
    """Writes the plan, with the keys that are ``changed``; returns its file."""
    values: dict[str, Any] = {
        "version": 1,
        "seconds": 0.1,
        "seeds": [1, 2],
        "common": {
            "objective": "centred",
            "arch": {"name": "mlp", "hidden": [8]},
            "eval_every": 0,
            "tables": 64,
            "minibatch": 64,
        },
        "recipes": {"ppo": {"algorithm": "ppo"}, "deep_monte_carlo": {"algorithm": "deep_monte_carlo"}},
        "settings": {
            "short": {
                "game": "batasaurus",
                "preset": "batasaurus",
                "players": 2,
                "rules": {"memory": "perfect", "dinosaurs": 3},
            }
        },
        "iterations": {"short": {"ppo": 4, "deep_monte_carlo": 4, "cfr_plus": 50}},
        "hypotheses": [{"first": "ppo", "second": "deep_monte_carlo", "says": "lower", "refuted_by": "higher"}],
        **changed,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    return path
