"""The targets that a network learns from labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nainjaune_agents.train.labels import Labels
from nainjaune_agents.train.targets import entropy, soft_cross_entropy, targets


def test_targets_are_the_softmax_of_the_action_values() -> None:
    nan = math.nan
    labels = Labels(
        observation=np.zeros((2, 3), np.uint8),
        legal=np.array([0b101, 0b110]),
        mean=np.array([[1.0, nan, 1.0 - math.log(3)], [nan, -7.0, -7.0]], np.float32),
        halves=np.array([[[2.0, nan, 2.0], [4.0, nan, 4.0 - math.log(3)]], [[nan, -6.0, -6.0], [nan, -8.0, -8.0]]], np.float32),
        error=np.full((2, 3), nan, np.float32),
        earned=np.array([0.5, -9.0], np.float32),
        seat=np.zeros(2, np.uint8),
        generation=np.zeros(2, np.int32),
    )
    share, value = targets(labels, 1.0)
    assert share == pytest.approx(np.array([[0.75, 0, 0.25], [0, 0.5, 0.5]]), abs=1e-6)
    one_way, other_way = 4 - 0.5 * math.log(3), 2.0  # half and half by the first, 3/4 and 1/4 by the second
    assert value == pytest.approx([(one_way + other_way) / 2 - 0.5, 2.0], abs=1e-6)
    assert targets(labels, 0.5)[0][0] == pytest.approx([0.9, 0, 0.1], abs=1e-6)
    assert targets(labels, 1e-3)[0][0] == pytest.approx([1, 0, 0], abs=1e-6)
    assert entropy(share)[1] == pytest.approx(math.log(2))
    logits = torch.tensor([[math.log(3), 50.0, 0.0], [9.0, 2.0, 2.0]])
    met = soft_cross_entropy(logits, torch.from_numpy(labels.mask), torch.from_numpy(share))
    assert float(met) == pytest.approx(float(entropy(share).mean()), abs=1e-6)
