"""The networks of PPO as it asks them: forward to play, forward and back to learn, in float32 or bfloat16.

A network that remembers nothing is a chain of linear layers over the bytes of an observation (:meth:`PolicyValueNet.layers`),
its heads side by side as one: that is all that is computed, in the precision that is asked for, while what learns stays in
float32; its gradients are taken by hand (:class:`Multilayer`). One that remembers goes through torch's GRU and autograd, in
bfloat16 by autocast, and so does the head that guesses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.core.layout import Layout

from ..nets.modules import BeliefHead, PolicyValueNet, ValueNet, through
from ..nets.multilayer import Multilayer
from ..nets.quick_net import QuickNet

JUDGED = 2048
"""Most that go through the critic at once."""


class Told(NamedTuple):
    """What a pass over K decisions gives."""

    policy: Tensor  # (K, A + 1) float32: logits, not masked, and the value
    judged: Tensor | None  # (K,) the critic's values, None without one
    recall_loss: Tensor  # scalar
    belief_loss: Tensor  # scalar
    features: Tensor  # (K, width): what the heads take


class Networks:
    """What learns: what plays, and what only training has."""

    def __init__(
        self,
        net: PolicyValueNet,
        critic: ValueNet | None,
        belief: BeliefHead | None,
        layout: Layout,
        *,
        recalling: bool,
        bf16: bool,
    ) -> None:
        """``layout`` is what ``net`` takes; ``recalling``: whether what was seen at first is told. All stay where they are."""
        self.net = net
        self.critic = critic
        self.belief = belief
        self.bf16 = bf16
        self._private = torch.from_numpy(layout.private).to(net.device)
        self._high = torch.from_numpy(layout.high[layout.private]).float().to(net.device)
        self._recalling = recalling
        self._policy = None if net.recurrent else Multilayer(net, [net.policy, net.value], self.dtype)
        self._critic = Multilayer(critic, [critic.value], self.dtype) if critic else None
        by_autograd = (None if self._policy else net, belief)
        self._by_autograd = [list(module.parameters()) for module in by_autograd if module]

    def modules(self) -> Iterator[tuple[str, torch.nn.Module]]:
        """Each by what it is called in checkpoints."""
        for name, module in (("model.", self.net), ("critic.", self.critic), ("belief.", self.belief)):
            if module is not None:
                yield name, module

    @property
    def dtype(self) -> torch.dtype:
        """What is multiplied."""
        return torch.bfloat16 if self.bf16 else torch.float32

    def autocast(self) -> torch.autocast:
        """For what is not a chain of layers."""
        return torch.autocast(self.net.device.type, torch.bfloat16, enabled=self.bf16)

    def learn(self, observation: Tensor, omniscient: Tensor, batch_sizes: Tensor | None) -> Told:
        """A pass over decisions: ``observation (K, size) uint8``, and ``omniscient (K, larger size)`` for the critic.

        ``batch_sizes`` is for a network that remembers, see :meth:`PolicyValueNet.trunk`.
        """
        recall_loss = belief_loss = torch.zeros((), device=observation.device)
        if self._policy:
            policy = self._policy.forward(observation)
            features = self._policy.features.requires_grad_(self.belief is not None)
        else:
            with self.autocast():
                features, state = self.net.trunk(observation, batch_sizes=batch_sizes)
                logits, value = self.net.heads(features)
            policy = torch.cat([logits, value[:, None]], dim=1)
            if self._recalling:
                assert state is not None
                assert batch_sizes is not None
                recall_loss = self.recall_loss(observation, state, batch_sizes)
        if self.belief:
            with self.autocast():
                belief_loss = self.belief.loss(features, omniscient)
        judged = self._critic.forward(omniscient).squeeze(1) if self._critic else None
        return Told(policy, judged, recall_loss, belief_loss, features)

    def backward(self, told: Told, policy: Tensor, judged: Tensor | None, *, recall: float, belief: float) -> None:
        """Gradients of all parameters into their ``grad``, from those by what was ``told`` in the last pass.

        ``policy (K, A + 1)`` is that by its ``policy``, ``judged (K,)`` by its ``judged``; the two losses weigh ``recall`` and
        ``belief``.
        """
        for parameter in itertools.chain(*self._by_autograd):
            parameter.grad = None
        losses = recall * told.recall_loss + belief * told.belief_loss
        if self._policy:
            if self.belief:
                losses.backward()  # type: ignore[no-untyped-call]
            self._policy.backward(policy, told.features.grad)
        elif losses.requires_grad:
            torch.autograd.backward([told.policy, losses], [policy, None])
        else:
            torch.autograd.backward([told.policy], [policy])
        if self._critic:
            assert judged is not None
            self._critic.backward(judged[:, None])

    def clip(self, norm: float) -> Tensor:
        """Scale the gradients of each network down to ``norm``, where they are more; gives what those of ``net`` were."""
        by_hand = [network.gradient for network in (self._policy, self._critic) if network]
        norms = [torch.linalg.vector_norm(gradient) for gradient in by_hand]
        for gradient, found in zip(by_hand, norms, strict=True):
            gradient *= (norm / (found + 1e-6)).clamp(max=1)
        norms_by_autograd = [torch.nn.utils.clip_grad_norm_(parameters, norm) for parameters in self._by_autograd]
        return norms[0] if self._policy else norms_by_autograd[0]

    def stepper(self) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The networks as they are now, to play with: of ``observation (K, size) uint8`` and ``state (K, recurrent)``.

        Gives what ``policy`` is in :class:`Told`, and the state after.
        """
        if self.net.recurrent:
            return self._remember
        with torch.no_grad():
            layers = self.net.layers(self.dtype)
        return lambda observation, state: (through(layers, observation).float(), state)

    def _remember(self, observation: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        with self.autocast():
            logits, value, after = self.net(observation, state)
        return torch.cat([logits, value[:, None]], dim=1), after.float()

    @torch.inference_mode()
    def judged(self, omniscient: Tensor) -> Tensor:
        """Values ``(K,) float32`` of the critic, of ``omniscient (K, larger size) uint8``."""
        assert self.critic is not None
        layers = self.critic.layers(self.dtype)
        return torch.cat([through(layers, piece) for piece in torch.split(omniscient, JUDGED)]).squeeze(1).float()

    def recall_loss(self, observation: Tensor, state: Tensor, batch_sizes: Tensor) -> Tensor:
        """Cross-entropy of telling the private bytes of each chain's first observation from the state at each decision."""
        first = observation[: batch_sizes[0]][:, self._private].float() / self._high
        goal = torch.cat([first[:number] for number in batch_sizes.tolist()])
        with self.autocast():
            told = self.net.recall(state)
        return torch.nn.functional.binary_cross_entropy_with_logits(told.float(), goal)


class Player:
    """The networks, to play with and judge by: of NumPy's arrays, on the CPU."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks
        self._quick = None if networks.net.recurrent else QuickNet(networks.net, networks.dtype, value=True)

    def renew(self) -> None:
        """Play from here on as the networks are now."""
        if self._quick:
            self._quick.take_over(self._networks.net)

    def told(self, observation: NDArray[np.uint8], state: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits, not masked, and the value in the last column, ``(K, A + 1)``; ``state (K, recurrent)`` is written over."""
        if self._quick:
            return self._quick.logits(observation)
        with self._networks.autocast():
            logits, value = self._networks.net.evaluate(observation, state)
        return np.concatenate([logits, value[:, None]], axis=1)

    def judged(self, omniscient: NDArray[np.uint8]) -> NDArray[np.float32] | None:
        """Values ``(K,)`` of the critic that sees all hands; None where there is none."""
        networks = self._networks
        return networks.judged(torch.from_numpy(omniscient)).numpy() if networks.critic else None
