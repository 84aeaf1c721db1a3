"""Building blocks of networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.nets.modules import fold_inputs, linear, masked_log_softmax


def test_constant_inputs_move_into_the_bias() -> None:
    """Of five inputs the first three may be constant, and the last one is never there."""
    generator = torch.Generator().manual_seed(1)
    layer = linear(5, 4, 1.0, generator)
    x, constant = torch.randn(7, 5, generator=generator), torch.tensor([0.0, 2.5, 0.0])
    x[:, 1], x[:, 4] = 2.5, 0.0
    expected = layer(x)
    columns = torch.tensor([2, 0, 3])
    fold_inputs(layer, constant.double(), columns)
    assert (layer.in_features, layer.weight.shape) == (3, (4, 3))
    assert torch.allclose(layer(x[:, columns]), expected, atol=1e-6)


def test_masked_log_softmax() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 1e4]])
    mask = torch.tensor([[True, False, True, False]])
    found = masked_log_softmax(logits, mask)
    assert found[0, 0].item() == pytest.approx(1.0 - np.log(np.exp(1.0) + np.exp(3.0)), abs=1e-6)
    assert found.exp()[0].tolist() == pytest.approx([0.119203, 0.0, 0.880797, 0.0], abs=1e-5)
    assert torch.isfinite(found * found.exp()).all()  # the entropy's sum
