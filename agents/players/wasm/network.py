"""Trained networks as files that ``wasm/network.js`` loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import numpy as np

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.spec import Setup

from ..networks.net_agent import NetAgent, folded_layers

FORMAT, VERSION = "nainjaune-network", 1
ALIGNMENT = 64
"""The header, a line of JSON, is padded to a multiple of this many bytes."""


def write_network(path: Path, agent: Agent, setup: Setup) -> int:
    """Writes the network of ``agent`` for tables with ``setup`` to ``path``; returns the number of bytes.

    The file is a line of JSON, filled up with spaces, and of each layer the weights as ``float32``, lowest byte first: the rows
    of its inputs, then the biases. The last layer has the logits of all actions and the value, in units of ``payoff_scale``.
    Raises :class:`~nainjaune_env.core.errors.AgentError` where the agent is no plain MLP.
    """
    layers = folded_layers(agent)
    header = {
        "format": FORMAT,
        "version": VERSION,
        **setup.to_dict(),
        "name": agent.name,
        "layout": setup.layout.fingerprint,
        "sizes": [setup.layout.size, *(len(bias) for _, bias in layers)],
        "payoff_scale": cast(NetAgent, agent).net.payoff_scale,
    }
    line = json.dumps(header).encode()
    line += b" " * (-(len(line) + 1) % ALIGNMENT) + b"\n"
    numbers = [part.ravel() for weight, bias in layers for part in (weight.T, bias)]
    data = line + np.concatenate(numbers).astype("<f4").tobytes()
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return len(data)
