"""TorchRL's ``EnvBase`` over many tables, all in one batch that compiled code steps.

It plays the episodes of ``SeatVecEnv`` and of Gymnasium's vector environment for the same seeds, as a test checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.envs.reset_options import seed_number
from nainjaune_env.envs.seat_options import LearnerEnv, table_seeds, takes_seat_options

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as error:
    raise MissingLibraryError("The TorchRL adaptor", "torchrl", "torchrl") from error


class SeatTorchEnv(LearnerEnv, EnvBase):  # type: ignore[misc]
    """B tables, each seen from one seat, as a TorchRL environment with the batch size ``(B,)``.

    ================  ===================  ==================================================================
    entry             shape, dtype         meaning
    ================  ===================  ==================================================================
    observation       (B, size) uint8      what the learner observes; ``setup.layout`` names the features
    action_mask       (B, A) bool          the learner's legal actions; all False after the end of an episode
    action            (B,) int64           the learner's action
    reward            (B, 1) float32       what the learner has gained since its last action
    done, terminated  (B, 1) bool          whether the episode has ended; none is ever truncated
    ================  ===================  ==================================================================

    In self-play (``opponents="self"``) every decision is the learner's, and there are two more entries (see ``SeatEnv``): the
    seat to act, ``seat (B, 1) int64``, and what the last step credits each seat with, ``rewards (B, n) float32``.

    The mask is also in the action spec, from which ``rand_action`` draws. An illegal action raises :class:`IllegalActionError`;
    with ``illegal_reward`` it ends the episode with that reward. A finished table rests until it is reset: ``rollout`` and
    collectors reset it at once, and a step before that ignores its action.

    ``set_seed(s)`` and ``reset(seed=s)`` seed table i with s + i; the former takes effect at the next reset of all tables.
    """

    @takes_seat_options
    def __init__(
        self,
        num_envs: int = 1,
        preset: str | None = None,
        players: int | None = None,
        *,
        device: Any = "cpu",
        **settings: Any,
    ) -> None:
        """Takes the arguments of ``SeatEnv`` and raises its errors; ``device`` is that of the tensors, not of the tables."""
        self._make_tables(SeatTorchEnv, num_envs, preset, players, settings)
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        self._seed: int | None = None
        """The seed of the next reset of all tables; None: the generators continue."""
        actions, high = len(self.setup.game.actions), torch.from_numpy(self.setup.layout.high.copy())
        place: dict[str, Any] = {"device": self.device}
        high = high.to(self.device).expand(num_envs, -1)
        flag: Any = Categorical(2, shape=(num_envs, 1), dtype=torch.bool, **place)
        entries: dict[str, Any] = {
            "observation": Bounded(torch.zeros_like(high), high, dtype=torch.uint8, **place),
            "action_mask": Binary(actions, shape=(num_envs, actions), dtype=torch.bool, **place),
        }
        if self._tables.self_play:
            entries["seat"] = Bounded(0, self.setup.players - 1, shape=(num_envs, 1), dtype=torch.int64, **place)
            entries["rewards"] = Unbounded((num_envs, self.setup.players), **place)
        self.observation_spec = Composite(entries, shape=self.batch_size, **place)
        self.action_spec = Categorical(actions, shape=(num_envs,), **place)
        self.reward_spec = Unbounded((num_envs, 1), **place)
        self.full_done_spec = Composite(done=flag, terminated=flag.clone(), shape=self.batch_size, **place)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed_number(seed)

    def _reset(
        self, tensordict: TensorDictBase | None = None, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> TensorDictBase:
        """Begins episodes at all tables, or at those that the entry ``_reset`` marks; ``options`` are as in ``SeatEnv.reset``."""
        which, first = self._all, seed_number(seed)
        if tensordict is not None and "_reset" in tensordict.keys():  # noqa: SIM118  (a tensordict is no dictionary)
            which = np.flatnonzero(tensordict["_reset"].view(-1).cpu().numpy())
        if which.size == self._all.size:
            first, self._seed = (self._seed if first is None else first), None
        if which.size:
            self._tables.reset(which, table_seeds(first, which), options)
        return self._observed()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        tables = self._tables
        actions, over = tensordict["action"].cpu().numpy(), tables.batch.done.copy()
        which = np.flatnonzero(~over) if over.any() else self._all
        reward = np.zeros((self._all.size, 1), np.float32)
        if which.size:
            reward[which, 0] = tables.step(actions[which], which)
        observed = self._observed().set("reward", torch.from_numpy(reward).to(self.device))
        if tables.self_play:
            observed["rewards"][torch.from_numpy(over)] = 0  # they had them in the step that ended the round
        return observed

    def _observed(self) -> TensorDictBase:
        """Returns new tensors of all tables, and renew the mask of the action spec."""
        batch = self._tables.batch
        mask = torch.from_numpy(batch.mask.copy()).to(self.device)
        done = torch.from_numpy(batch.done[:, None].copy()).to(self.device)
        self.action_spec.update_mask(mask | done)  # a spec draws for all tables, also for those that are done
        entries = {
            "observation": torch.from_numpy(batch.observation.copy()).to(self.device),
            "action_mask": mask,
            "done": done,
            "terminated": done.clone(),
        }
        if self._tables.self_play:
            entries["seat"] = torch.from_numpy(self._tables.learner[:, None].copy()).to(self.device)
            entries["rewards"] = torch.from_numpy(self._tables.rewards.astype(np.float32)).to(self.device)
        return TensorDict(entries, self.batch_size, device=self.device)
