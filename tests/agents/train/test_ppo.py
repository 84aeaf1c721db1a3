"""PPO: what it learns from is what was played, a resumed run is the same run, and it learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Config, Trainer, gae, new_trainer, train
from nainjaune_agents.train.rollout import Rollout
from nainjaune_agents.train.run import Run
from nainjaune_agents.train.sequences import Sequences
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from tests.support.positions import stirred
from tests.support.training import run_in, same

TINY = {"tables": 64, "arch": {"hidden": [16]}, "critic_hidden": [16], "eval_every": 0, "minibatch": 256, "iterations": 6}


def tiny(**other: Any) -> Config:
    return build(Config, {**TINY, **other})


def trainer_of(config: Config) -> Trainer:
    return new_trainer(config)


def masks(trainer: Trainer, rollout: Rollout) -> np.ndarray:
    """The legal actions of each decision as rows, ``(T, A) bool``."""
    return (rollout.legal[:, None] >> np.arange(len(trainer.setup.game.actions)) & 1).astype(bool)


# ---------------------------------------------------------------- precision


@pytest.mark.parametrize(("dtype", "expected"), [(torch.bfloat16, True), (torch.float32, False)])
def test_auto_is_what_the_processor_computes_fast_and_the_run_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dtype: torch.dtype, expected: bool
) -> None:
    monkeypatch.setattr("nainjaune_agents.train.ppo.fast_dtype", lambda: dtype)
    config = tiny(bf16="auto", iterations=2)
    assert config.bf16 is expected
    assert run_in(tmp_path, config, stop_at=1).config["bf16"] is expected
    assert run_in(tmp_path, tiny(bf16="auto", iterations=2), resume=True).iteration == 2


# ---------------------------------------------------------------- what it learns from


REMEMBERING = [
    {"arch": {"hidden": [16], "recurrent": 8}, "game": "batasaurus", "players": 2},
    {"arch": {"hidden": [16], "recurrent": 8}, "game": "batasaurus", "players": 3, "objective": "own"},
    {"arch": {"hidden": [16], "recurrent": 8}, "preset": "djeco", "players": 4, "privileged": True},
]


@pytest.fixture(
    scope="module",
    params=[
        {"privileged": True, "preset": "djeco", "players": 4},
        {"objective": "own", "privileged": True, "preset": "classic", "players": 3},
        {"objective": "own", "preset": "skip", "players": 6},
        *REMEMBERING,
    ],
    ids=str,
)
def played(request: pytest.FixtureRequest) -> tuple[Trainer, Rollout]:
    trainer = trainer_of(tiny(**request.param, tables=40, seed=7))
    if trainer.config.recurrent:
        stirred(trainer.net)
    with torch.no_grad():
        if not trainer.config.recurrent:
            trainer.net.policy.weight *= 100  # a policy that is not uniform
            trainer.net.value.weight *= 10
        trainer.net.payoff_scale.fill_(3.0)
    return trainer, trainer.collect(0, np.random.default_rng(1))


def recomputed(trainer: Trainer, rollout: Rollout) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of the actions and values in the order of the rollout, from minibatches as training makes them."""
    count = len(rollout.action)
    log_probs, values = np.full(count, np.nan, np.float32), np.full(count, np.nan, np.float32)
    for rows, batch_sizes in trainer.minibatch_rows(rollout.trajectory_id, np.random.default_rng(0)):
        with torch.no_grad():
            logits, value, _ = trainer.net(torch.from_numpy(rollout.observation)[rows], sequences=batch_sizes)
            if trainer.critic:
                value = trainer.critic(torch.from_numpy(rollout.omniscient)[rows])
            each = masked_log_softmax(logits, torch.from_numpy(masks(trainer, rollout))[rows])
        log_probs[rows] = each.numpy()[np.arange(len(rows)), rollout.action[rows]]
        values[rows] = value.numpy()
    return log_probs, values


def test_every_decision_of_every_seat_is_there_once_and_no_forced_ply(played: tuple[Trainer, Rollout]) -> None:
    """Each table played over ply by ply: where a seat is to be asked is its part of the rollout, in order."""
    trainer, rollout = played
    n, config = trainer.setup.players, trainer.config
    share = trainer.config.task.payoff
    looks = len(rollout.final) if trainer.setup.game.name == "batasaurus" else 0
    assert (masks(trainer, rollout).sum(axis=1) == 1).sum() == looks  # else only choices: looking at cards comes once a seat
    batch = Batch(trainer.setup, config.tables, skip_forced=False, autoreset=False)
    batch.reset(seeds=streams(config.seed, config.tables, stream=1))
    left = [list(np.flatnonzero(rollout.trajectory_id // n == table)) for table in range(config.tables)]
    chips = batch.reward.astype(np.float32)
    while not batch.done.all():
        actions = np.zeros(config.tables, np.int64)
        for i in np.flatnonzero(~batch.done):
            legal = legal_actions(int(batch.legal[i]))
            actions[i] = legal[0]
            if trainer.setup.game.kernel.needs_decision(batch.tables[i], trainer.setup.kernel_rules, batch.legal[i]):
                t = left[i].pop(0)
                seat = int(batch.seat[i])
                assert rollout.trajectory_id[t] == i * n + seat
                assert np.array_equal(rollout.observation[t], batch.observation[i])
                assert rollout.legal[t] == batch.legal[i]
                assert rollout.return_so_far[t] == pytest.approx(float(share(chips[i : i + 1])[0, seat]), abs=1e-4)
                actions[i] = rollout.action[t]
        batch.step(actions)
        chips += batch.reward
    assert not any(left)
    assert rollout.final.tolist() == pytest.approx(share(chips).ravel().tolist(), abs=1e-4)
    assert rollout.payoff_std == pytest.approx(chips.std(), rel=1e-4)


def test_log_probabilities_are_the_nets_and_values_the_critics(played: tuple[Trainer, Rollout]) -> None:
    trainer, rollout = played
    assert (trainer.critic is not None) == trainer.config.privileged
    log_probs, values = recomputed(trainer, rollout)
    assert rollout.log_prob == pytest.approx(log_probs, abs=2e-4)
    assert rollout.value == pytest.approx(3.0 * values, abs=1e-3)


def test_the_critic_sees_more_than_the_policy(played: tuple[Trainer, Rollout]) -> None:
    trainer, rollout = played
    size = trainer.setup.layout.size
    assert rollout.observation.shape[1] == size
    assert (rollout.omniscient.shape[1] > size) == trainer.config.privileged
    if trainer.config.privileged:
        assert np.array_equal(rollout.omniscient[:, :size], rollout.observation)


@pytest.mark.parametrize(
    ("count", "size", "sizes"),
    [
        (25, 10, [9, 8, 8]),
        (30, 10, [10, 10, 10]),
        (31, 10, [8, 8, 8, 7]),  # not 10, 10, 10 and a step of Adam on one decision
        (7, 10, [7]),
        (1, 2, [1]),
        (2048, 1024, [1024, 1024]),
        (2049, 1024, [683, 683, 683]),
    ],
)
def test_minibatches_are_even(count: int, size: int, sizes: list[int]) -> None:
    parts = trainer_of(tiny(minibatch=size)).minibatch_rows(np.arange(count), np.random.default_rng(0))
    assert [len(rows) for rows, _ in parts] == sizes
    assert all(batch_sizes is None for _, batch_sizes in parts)
    rows = torch.cat([rows for rows, _ in parts])
    assert sorted(rows.tolist()) == list(range(count))
    assert rows.tolist() == np.random.default_rng(0).permutation(count).tolist()


@pytest.mark.parametrize("other", [{}, *REMEMBERING], ids=str)
def test_no_step_no_change(other: dict[str, Any]) -> None:
    """At a learning rate of 0 the ratio is 1 everywhere, so every term of the loss is known."""
    trainer = trainer_of(tiny(**other, optimizer={"learning_rate": 0, "last_learning_rate": 0}, tables=200))
    if trainer.config.recurrent:
        stirred(trainer.net)
    before = [tensor.clone() for tensor in trainer.net.parameters()]
    metrics = trainer.iterate()
    assert all(torch.equal(one, two) for one, two in zip(before, trainer.net.parameters(), strict=True))
    assert metrics["update/kl"] == pytest.approx(0, abs=1e-6)
    assert metrics["update/clip_fraction"] == 0
    assert metrics["update/policy_loss"] == pytest.approx(0, abs=1e-4)  # advantages are centred in every minibatch
    if not other:
        assert metrics["update/value_loss"] == pytest.approx(1, rel=0.3)  # in units of the returns' spread
    assert metrics["update/grad_norm"] > 0


def test_schedules_run_from_first_to_last() -> None:
    trainer = trainer_of(
        tiny(iterations=2, optimizer={"learning_rate": 1e-3, "last_learning_rate": 1e-4}, entropy=0.2, last_entropy=0.0)
    )
    one, two = trainer.iterate(), trainer.iterate()
    assert [m["schedule/learning_rate"] for m in (one, two)] == pytest.approx([1e-3, 5.5e-4])
    assert [m["schedule/entropy_weight"] for m in (one, two)] == pytest.approx([0.2, 0.1])


def test_no_further_epoch_beyond_the_target_kl() -> None:
    whole = trainer_of(tiny(epochs=4, optimizer={"learning_rate": 0.01})).iterate()
    assert whole["update/epochs"] == 4
    ended = trainer_of(tiny(epochs=4, optimizer={"learning_rate": 0.01}, target_kl=1e-6)).iterate()
    assert ended["update/epochs"] == 1
    assert ended["update/kl"] < whole["update/kl"]


# ---------------------------------------------------------------- rounds played ahead


def test_ahead_of_the_second_update_rounds_are_played_by_the_weights_before_the_first() -> None:
    ahead, plain = trainer_of(tiny(overlap=True, privileged=True)), trainer_of(tiny(privileged=True))
    unchanged = trainer_of(tiny(privileged=True))
    for trainer in (ahead, plain):
        trainer.iterate()
    behind = ahead.next_rollout(ahead.iteration)[0]
    assert torch.equal(ahead.net.policy.weight, plain.net.policy.weight)  # the first update is the same
    assert torch.equal(ahead.network("behaviour.").policy.weight, plain.net.policy.weight)  # and plays the third rounds
    expected = unchanged.next_rollout(1)[0]
    for column in ("observation", "omniscient", "action", "log_prob", "value", "final"):
        assert getattr(behind, column).tobytes() == getattr(expected, column).tobytes()
    assert behind.log_prob.tobytes() != plain.next_rollout(1)[0].log_prob.tobytes()


def test_played_ahead_the_initial_weights_play_from_the_first_round_on(tmp_path: Path) -> None:
    run_in(tmp_path / "first", tiny(iterations=2))
    own = {"init": str(tmp_path / "first"), "iterations": 1}
    ahead, plain = run_in(tmp_path / "ahead", tiny(overlap=True, **own)), run_in(tmp_path / "plain", tiny(**own))
    assert np.array_equal(ahead.tensors["model.policy.weight"], plain.tensors["model.policy.weight"])


# ---------------------------------------------------------------- the same run, resumed


def test_a_finished_run_is_extended_under_the_schedules_of_its_new_length(tmp_path: Path) -> None:
    run_in(tmp_path, tiny(iterations=2))
    trainer = trainer_of(tiny(iterations=4))
    trainer.restore(load_checkpoint(tmp_path))
    rates = [trainer.iterate()["schedule/learning_rate"] for _ in range(2)]
    assert rates == pytest.approx([2e-3 + (1e-4 - 2e-3) * share for share in (0.5, 0.75)])
    assert same(run_in(tmp_path, tiny(iterations=4), resume=True), trainer.checkpoint())
    kept = {"keep_every": 1, "iterations": 5}
    extended = run_in(tmp_path, tiny(**kept), resume=True)
    assert same(load_checkpoint(tmp_path / "iteration-000005.safetensors"), extended)
    assert not (tmp_path / "iteration-000004.safetensors").exists()


# ---------------------------------------------------------------- recalling


def test_the_loss_of_recalling_is_that_of_telling_what_was_seen_at_first() -> None:
    """Worked out chain by chain: whatever a seat sees later, its own bytes of its first decision are what is asked for."""
    trainer = trainer_of(tiny(game="batasaurus", players=3, arch={"hidden": [16], "recurrent": 8}, recall=1.0, tables=10))
    stirred(trainer.net)
    rollout = trainer.collect(0, np.random.default_rng(1))
    private = trainer.setup.layout.private
    assert (trainer.setup.layout.high[private] == 1).all()
    sequences = Sequences(rollout.trajectory_id)
    rows, batch_sizes = sequences.packed(np.arange(sequences.count))
    observation, sizes = torch.from_numpy(rollout.observation[rows]), torch.from_numpy(batch_sizes)
    with torch.no_grad():
        _, _, states = trainer.net(observation, sequences=sizes)
        assert states is not None
        loss = float(trainer.net.recall_loss(observation, states, sizes))
        told = torch.sigmoid(trainer.net.recall(states)).double().numpy()
    losses = []
    for k, t in enumerate(rows):
        first = np.flatnonzero(rollout.trajectory_id == rollout.trajectory_id[t])[0]
        seen = rollout.observation[first, private]
        assert seen[:144].sum() == 12  # its whole layout
        losses.append(-(seen * np.log(told[k]) + (1 - seen) * np.log(1 - told[k])).mean())
    assert loss == pytest.approx(np.mean(losses), rel=1e-3)


# ---------------------------------------------------------------- what it tells


def test_metrics_say_what_they_say(tmp_path: Path) -> None:
    told: list[dict[str, float]] = []
    config = tiny(iterations=1, tables=100, optimizer={"learning_rate": 0, "last_learning_rate": 0})
    run = Run(tmp_path)
    train(config, run, run.create(config, resume=False), lambda _, metrics: told.append(metrics))
    assert told[0] == {}
    metrics = told[1]
    trainer = trainer_of(config)
    rollout = trainer.next_rollout(0)[0]
    assert metrics["rollout/decisions"] == len(rollout.action)
    assert metrics["rollout/decisions_per_round"] == len(rollout.action) / 100
    assert metrics["rollout/payoff_spread"] == rollout.payoff_std
    with torch.no_grad():
        mask = torch.from_numpy(masks(trainer, rollout))
        log_probs = masked_log_softmax(trainer.net(torch.from_numpy(rollout.observation))[0], mask)
    entropy = float(-(log_probs.exp() * log_probs).sum(-1).mean())
    assert metrics["rollout/entropy"] == pytest.approx(entropy, rel=0.05)
    target = rollout.final[rollout.trajectory_id] - rollout.return_so_far
    explained = 1 - np.var(target - rollout.value) / np.var(target)
    assert metrics["update/explained_variance"] == pytest.approx(explained, abs=1e-3)


# ---------------------------------------------------------------- advantages

some = settings(max_examples=200, deadline=None, derandomize=True, database=None)
chips = st.integers(-200, 200).map(float)


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    sequences = draw(st.integers(1, 5))
    sequence = draw(st.lists(st.integers(0, sequences - 1), max_size=25))
    so_far = draw(st.lists(chips, min_size=len(sequence), max_size=len(sequence)))
    value = draw(st.lists(chips, min_size=len(sequence), max_size=len(sequence)))
    final = draw(st.lists(chips, min_size=sequences, max_size=sequences))
    return np.array(sequence, np.int64), *(np.array(x, np.float32) for x in (so_far, value, final))


def slow_advantages(sequence: Any, so_far: Any, value: Any, final: Any, lam: float) -> list[float]:
    """A(i) = sum over j >= i along the sequence of lambda^(j-i) (r(j) + V(j+1) - V(j)), V past the end being 0."""
    out = [0.0] * len(sequence)
    for c in range(len(final)):
        steps = [t for t in range(len(sequence)) if sequence[t] == c]
        payoffs = [float(so_far[t]) for t in steps] + [float(final[c])]
        values = [float(value[t]) for t in steps] + [0.0]
        delta = [payoffs[k + 1] - payoffs[k] + values[k + 1] - values[k] for k in range(len(steps))]
        for i, t in enumerate(steps):
            out[t] = sum(lam ** (j - i) * delta[j] for j in range(i, len(steps)))
    return out


@some
@given(rollouts(), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_advantages_by_their_definition(rollout: Any, lam: float) -> None:
    assert gae(*rollout, lam).tolist() == pytest.approx(slow_advantages(*rollout, lam), abs=0.05)
