"""Plans of comparisons: what they hold, what is refused, and which folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.train.sweeps.comparison import claim_folder, read_plan
from nainjaune_env.core.errors import ConfigError, NainJauneError
from tests.agents.train.sweeps.plans import small_plan

DMC = {"algorithm": "deep_monte_carlo"}
SHORT: dict[str, Any] = {"game": "batasaurus", "preset": "batasaurus", "players": 2, "rules": {"memory": "perfect"}}


def test_runs_are_all_recipes_on_all_settings_seed_by_seed(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path))
    runs = plan.runs(tmp_path / "out")
    assert [(run.name, run.seed) for run in runs] == [
        ("short/ppo", 1), ("short/deep_monte_carlo", 1), ("short/ppo", 2), ("short/deep_monte_carlo", 2),
    ]  # fmt: skip
    assert [(run.config.algorithm, run.config.seed, run.config.iterations) for run in runs[:2]] == [
        ("ppo", 1, 4), ("deep_monte_carlo", 1, 4),
    ]  # fmt: skip
    assert runs[0].folder == tmp_path / "out" / "runs" / "short" / "ppo" / "seed-1"
    assert runs[0].config.rules == {"memory": "perfect", "dinosaurs": 3}


def test_a_tenth_is_two_fifths_of_the_seeds_and_a_quarter_of_each_run(tmp_path: Path) -> None:
    plan = read_plan(small_plan(tmp_path, seeds=[1, 2, 3, 4, 5], iterations={"short": {"ppo": 100}}, hypotheses=[]))
    tenth = plan.tenth()
    assert (tenth.seeds, tenth.iterations) == ([1, 2], {"short": {"ppo": 25}})
    assert sum(run.config.iterations for run in tenth.runs(tmp_path)) * 10 == sum(
        run.config.iterations for run in plan.runs(tmp_path)
    )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seeds": [1]}, "two or more different training seeds"),
        ({"seeds": [1, 1]}, "two or more different training seeds"),
        ({"primary": "mean"}, "primary 'mean'. Valid: likeliest, sample"),
        ({"measure": "guess"}, "measure 'guess'. Valid: exact, play"),
        ({"settings": {"short": {"game": "batasaurus"}}}, "'short' should have the keys"),
        ({"settings": {"short": SHORT | {"rules": {"dinosaur": 3}}}}, "Did you mean 'dinosaurs'"),
        ({"settings": {"long": SHORT}}, "'iterations' should have the settings"),
        ({"iterations": {"short": {"vrp": 3}}}, "should name recipes"),
        ({"iterations": {"short": {"ppo": 0}}}, "should be 1 or more, not 0"),
        ({"iterations": {"short": {"ppo": True}}}, "should be 1 or more, not True"),
        ({"hypotheses": [{"first": "ppo"}]}, "A hypothesis has the keys"),
        ({"hypotheses": [{"first": "ppo", "second": "x", "says": "", "refuted_by": ""}]}, "should name recipes"),
        ({"recipes": {"ppo": {"algorithm": "pp"}, "deep_monte_carlo": DMC}}, "Did you mean 'ppo'"),
        ({"recipes": {"ppo": {"algorithm": "ppo", "clop": 1}, "deep_monte_carlo": DMC}}, "clop"),
        ({"seed": 3}, "seed"),
    ],
    ids=str,
)
def test_a_plan_that_does_not_fit_together_is_refused(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NainJauneError, match=sentence):
        read_plan(small_plan(tmp_path, **changed))


def test_a_folder_of_another_plan_is_refused_with_what_differs(tmp_path: Path) -> None:
    plan, folder = read_plan(small_plan(tmp_path)), tmp_path / "out"
    claim_folder(plan, folder)
    claim_folder(plan, folder)
    for other, sentence in [
        (replace(plan, version=2), "are of version 1, and this plan has 2"),
        (replace(plan, seconds=9.0), r"are of seconds 0.1, and this plan has 9.0"),
        (replace(plan, seeds=[1, 3]), "are of seeds"),
        (plan.tenth(), "are of iterations.short.ppo 4, and this plan has 1:"),
        (replace(plan, iterations={"short": {"ppo": 5, "deep_monte_carlo": 4, "cfr_plus": 50}}), "iterations.short.ppo 4"),
        (replace(plan, recipes={**plan.recipes, "ppo": {"algorithm": "ppo", "clip": 0.1}}), "recipes.ppo"),
    ]:
        with pytest.raises(ConfigError, match=sentence):
            claim_folder(other, folder)


def test_a_plan_may_grow(tmp_path: Path) -> None:
    """A recipe that had no iterations has no results, so it may change as well."""
    plan, folder = read_plan(small_plan(tmp_path)), tmp_path / "out"
    claim_folder(replace(plan, recipes={**plan.recipes, "later": {"algorithm": "ppo"}}), folder)
    more = replace(
        plan,
        recipes={**plan.recipes, "later": {"algorithm": "ppo", "clip": 0.1}},
        iterations={"short": {**plan.iterations["short"], "later": 2}},
    )
    claim_folder(more, folder)
    with pytest.raises(ConfigError, match=r"iterations\.short\.later 2, and this plan has None"):
        claim_folder(plan, folder)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("")
    with pytest.raises(ConfigError, match=r"holds something else than a comparison \(no plan.json in it\)"):
        claim_folder(read_plan(small_plan(tmp_path)), tmp_path / "out")
