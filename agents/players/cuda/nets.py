"""Networks at tables on a GPU: torch computes on the observations there, and nothing is copied to the host."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from nainjaune_env.engine.cuda.batch import CudaBatch

from ...base.devices import check_device
from ..networks.torch_nets import as_torch

DEVICE = "cuda"
MAX_OBSERVATIONS = 1 << 16
"""Most observations computed at once: their features take memory, and larger batches are no faster."""


def shared(array: Any) -> Tensor:
    """Returns the same memory as a tensor."""
    return torch.as_tensor(array, device=DEVICE)


class NetPlayer:
    """A network that plays some of the seats."""

    def __init__(self, batch: CudaBatch, agent: Any, *, quick: bool) -> None:
        """``agent`` is a ``net_agent.NetAgent``, whose network is copied.

        With ``quick``, products are in bfloat16. Raises :class:`DeviceError` where torch can use no GPU.
        """
        net = as_torch(agent.net)
        self.stochastic: bool = agent.stochastic
        self._net = copy.deepcopy(net).to(check_device(DEVICE)).eval()
        self._quick = quick
        self._batch = batch
        shape = (batch.num_tables, batch.num_players, net.recurrent)
        self._state = self._net.initial_state(batch.num_tables * batch.num_players).view(shape)

    @torch.inference_mode()
    def logits(self, turns: Any, number: int) -> tuple[Tensor, Tensor]:
        """Returns the tables at which agent ``number`` is to act, ``(K,) int64``, and its logits there, ``(K, A) float32``."""
        which = torch.nonzero(shared(turns) == number)[:, 0]
        observation = shared(self._batch.observation)
        if not self._net.recurrent:
            return which, torch.cat([self._forward(observation[part], None)[0] for part in torch.split(which, MAX_OBSERVATIONS)])
        seats = shared(self._batch.seat)[which]
        logits, after = self._forward(observation[which], self._state[which, seats])
        assert after is not None
        self._state[which, seats] = after.float()
        return which, logits

    def _forward(self, observation: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=self._quick):
            logits, _, after = self._net(observation, state)
        return logits.contiguous(), after
