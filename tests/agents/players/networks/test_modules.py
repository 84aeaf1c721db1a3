"""Building blocks of networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.players.networks.modules import masked_log_softmax


def test_masked_log_softmax() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 1e4]])
    mask = torch.tensor([[True, False, True, False]])
    log_policy = masked_log_softmax(logits, mask)
    assert log_policy[0, 0].item() == pytest.approx(1.0 - np.log(np.exp(1.0) + np.exp(3.0)), abs=1e-6)
    assert log_policy.exp()[0].tolist() == pytest.approx([0.119203, 0.0, 0.880797, 0.0], abs=1e-5)
    assert torch.isfinite(log_policy * log_policy.exp()).all()  # the entropy's sum
