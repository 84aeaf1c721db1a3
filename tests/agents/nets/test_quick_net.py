"""The quick copy of a network against the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nainjaune_agents.nets.modules import PolicyValueNet
from nainjaune_agents.nets.quick_net import SIZES, QuickNet, fast_dtype
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.positions import small, stirred

SETUPS = [make_setup("nain_jaune", "djeco", 4), make_setup("batasaurus", None, 2)]
both = pytest.mark.parametrize("setup", SETUPS, ids=["djeco", "batasaurus"])


def net_for(setup: object, hidden: tuple[int, ...] = (64, 48)) -> PolicyValueNet:
    layout, actions = setup.layout, len(setup.game.actions)  # type: ignore[attr-defined]
    return stirred(PolicyValueNet(layout, actions, hidden, torch.Generator().manual_seed(3)))


def seen(setup: object, rows: int) -> NDArray[np.uint8]:
    batch, draws = Batch(setup, rows, seed=4), streams(4, rows)  # type: ignore[arg-type]
    for _ in range(7):
        batch.step(batch.sample(draws))
    return batch.observation


@both
@pytest.mark.parametrize("hidden", [(64, 48), (32,), ()])
@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.03)])
def test_its_logits_are_the_network_s(setup: object, hidden: tuple[int, ...], dtype: torch.dtype, near: float) -> None:
    net, observation = net_for(setup, hidden), seen(setup, 300)
    expected = net.evaluate(observation)[0]
    found = QuickNet(net, dtype).logits(observation)
    assert (found.shape, found.dtype) == (expected.shape, np.float32)
    assert np.abs(found - expected).max() < near * expected.std()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_number_of_rows_and_none_that_was_there_before(dtype: torch.dtype) -> None:
    setup = SETUPS[0]
    quick, observation = QuickNet(net_for(setup), dtype), seen(setup, SIZES[-1] + 40)
    whole = quick.logits(observation)
    near = 0.02 * whole.std()
    for rows in (1, 16, 17, 300, SIZES[-1]):
        part = quick.logits(observation[:rows])
        assert np.abs(part - whole[:rows]).max() < near
        quick.logits(255 - observation)
        assert quick.logits(observation[:rows]).tobytes() == part.tobytes()


def test_it_is_the_network_as_it_was() -> None:
    net, observation = net_for(SETUPS[0]), seen(SETUPS[0], 8)
    quick = QuickNet(net)
    before = quick.logits(observation)
    stirred(net, seed=9)
    assert quick.logits(observation).tobytes() == before.tobytes()


def test_bfloat16_is_for_processors_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for able, expected in (({"amx_bf16": True}, torch.bfloat16), ({"avx512_f": True, "amx_bf16": False}, torch.float32)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able, raising=False)
        assert fast_dtype() is expected
        assert QuickNet(net_for(SETUPS[0])).dtype is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert fast_dtype() is torch.float32


def test_a_network_that_remembers_is_refused() -> None:
    setup = small()
    net = PolicyValueNet(setup.layout, len(setup.game.actions), [8], torch.Generator(), recurrent=4)
    with pytest.raises(ValueError, match="a network with 4 units that remember is more than its layers"):
        QuickNet(net)
