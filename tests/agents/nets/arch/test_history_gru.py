"""The network that reads the plies of the round by a GRU, against its definition, and what it is not made with."""

from __future__ import annotations

import pytest
import torch

from nainjaune_agents.nets.arch import make_net
from nainjaune_agents.nets.arch.history_gru import UNITS, HistoryGRU
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.engine.history import layout_with_history
from tests.support.positions import small, stirred

SETUP, PLIES = small(), 6
OWN, SEATS, ACTIONS = SETUP.layout.size, SETUP.players, len(SETUP.game.actions)


def net(plies: int = PLIES, seed: int = 1) -> HistoryGRU:
    layout = layout_with_history(SETUP, plies)
    return HistoryGRU(layout, ACTIONS, [16, 8], torch.Generator().manual_seed(seed))


def observations(rows: int = 20, plies: int = PLIES) -> torch.Tensor:
    """Observations that are no game's, of rounds with 0, 1, 2 … plies."""
    generator = torch.Generator().manual_seed(2)
    own = torch.randint(0, 4, (rows, OWN), dtype=torch.uint8, generator=generator)
    seats, actions = torch.zeros((rows, plies, SEATS), dtype=torch.uint8), torch.zeros((rows, plies, ACTIONS), dtype=torch.uint8)
    for row in range(rows):
        for ply in range(min(row, plies)):
            seats[row, ply, (row + ply) % SEATS] = actions[row, ply, (3 * row + ply) % ACTIONS] = 1
    return torch.cat([own, seats.flatten(1), actions.flatten(1)], dim=1)


def test_the_definition() -> None:
    """Ply by ply, the earliest first, and the last state beside the ordinary observation."""
    one, observation = stirred(net()), observations()
    cell = torch.nn.GRUCell(SEATS + ACTIONS, UNITS)
    cell.load_state_dict({name.removesuffix("_l0"): weight for name, weight in one.gru.state_dict().items()})
    seen = one.scaled(observation)
    seats = seen[:, OWN : OWN + PLIES * SEATS].reshape(-1, PLIES, SEATS)
    actions = seen[:, OWN + PLIES * SEATS :].reshape(-1, PLIES, ACTIONS)
    state = torch.zeros(len(seen), UNITS)
    for ply in reversed(range(PLIES)):
        state = cell(torch.cat([seats[:, ply], actions[:, ply]], dim=1), state)
    features = one.body(torch.cat([seen[:, :OWN], state], dim=1))
    logits, value, after = one(observation)
    assert after is None
    assert one.fused() is None
    for found, expected in zip((logits, value), one.heads(features), strict=True):
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_at_first_it_plays_as_if_nothing_had_been_played_and_learns_to_read() -> None:
    one, observation = net(), observations()
    blank = observation.clone()
    blank[:, OWN:] = 0
    assert torch.equal(one(observation)[0], one(blank)[0])
    optimizer = torch.optim.Adam(one.parameters(), lr=0.01)
    for _ in range(2):  # the first step moves the weights of the state, the second one those of the GRU
        before = one.gru.weight_ih_l0.detach().clone()
        optimizer.zero_grad()
        one(observation)[1].square().sum().backward()
        optimizer.step()
    assert not torch.equal(before, one.gru.weight_ih_l0)
    assert not torch.equal(one(observation)[0], one(blank)[0])


def test_without_plies_it_is_an_mlp() -> None:
    def weights(arch: str) -> dict[str, torch.Tensor]:
        chance = torch.Generator().manual_seed(4)
        return make_net(arch, SETUP.layout, ACTIONS, [16, 8], chance).state_dict()

    one, two = weights("history_gru"), weights("mlp")
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize(
    ("hidden", "recurrent", "says"),
    [([], 0, "at least one hidden layer"), ([8], 4, "reads rounds from their first ply: 'recurrent' is 0 for it, not 4")],
)
def test_what_it_is_not_made_with(hidden: list[int], recurrent: int, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_net("history_gru", layout_with_history(SETUP, PLIES), ACTIONS, hidden, torch.Generator(), recurrent=recurrent)


def test_it_is_not_restricted_to_the_observations_of_one_setup() -> None:
    with pytest.raises(ValueError, match="cannot be restricted"):
        net().fold(SETUP.layout, torch.arange(3), torch.zeros(3))
