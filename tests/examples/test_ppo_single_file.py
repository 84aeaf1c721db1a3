"""The example of PPO in one file: advantages by seat, equal seeds, what it saves, and how strong it becomes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from examples import ppo_single_file as example
from nainjaune_agents import edge
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.train.self_play import seat_advantages
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams

SHORT = ["--total-decisions=2048", "--num-tables=16", "--num-steps=64", "--eval-deals=300"]


def test_advantages_follow_the_decisions_of_each_seat() -> None:
    """As those of the adaptors for self-play, over 80 steps with ends of rounds, and seats that do not act again."""
    batch, rngs, rng = Batch(make_setup(**example.RULES), 32, seed=3), streams(4, 32), np.random.default_rng(5)
    seats, rewards, dones = [], [], []
    for _ in range(80):
        seats.append(batch.seat)
        batch.step(batch.sample(rngs))
        rewards.append(batch.reward.astype(np.float32))
        dones.append(batch.done.copy())
    values, next_value = rng.normal(size=(80, 32)).astype(np.float32), rng.normal(size=32).astype(np.float32)
    columns = np.stack(seats), np.stack(rewards), values, np.stack(dones), batch.seat, next_value
    advantages, known = example.gae_by_seat(*columns, 0.9)
    expected, expected_known = seat_advantages(*columns, lam=0.9)
    assert 0.9 < known.mean() < 1
    np.testing.assert_array_equal(known, expected_known)
    np.testing.assert_allclose(advantages, expected, atol=1e-3)


def test_equal_seeds_give_equal_agents_and_the_saved_one_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(example.__file__).resolve()
    monkeypatch.chdir(tmp_path)
    printed = []
    for arguments in ([], ["--out=again"], ["--out=other", "--seed=2"]):
        example.main([*SHORT, *arguments])
        printed.append(re.sub(r"[\d,]+ a second", "", capsys.readouterr().out))
    folder = Path(example.Args.out)
    first, again, other = ((Path(out) / "agent.safetensors").read_bytes() for out in (folder, "again", "other"))
    assert first == again != other
    assert printed[0] == printed[1] != printed[2]
    assert sorted(path.suffix for path in folder.iterdir() if "tfevents" not in path.name) == [".safetensors"]
    assert len([*folder.glob("events.out.tfevents.*")]) == 1

    player = load_agent(f"{source}:saved", make_setup(**example.RULES))
    result = edge(player, "closer", 300, seed=10_000, **example.RULES)
    assert f"{result.mean:+.3f}".replace("-", "−") in printed[0].splitlines()[-2]

    with pytest.raises(SystemExit):
        example.main([*SHORT])
    assert "already has an agent" in capsys.readouterr().err
    assert (folder / "agent.safetensors").read_bytes() == first


@pytest.mark.long
def test_it_reaches_closer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a fifth of the decisions of the default, in about two minutes of a processor."""
    example.main(["--total-decisions=5000000", f"--out={tmp_path}"])
    printed = capsys.readouterr().out
    result = re.search(r"^Agent in a field of closer: ([+−][\d.]+) ± [\d.]+ chips a round", printed, re.MULTILINE)
    assert result, printed
    assert float(result[1].replace("−", "-")) > 0, printed
