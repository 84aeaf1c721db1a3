"""Tables of three players and more, and what duplicate deals are worth."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

from nainjaune_agents import edge, game_table
from nainjaune_agents.measure.any_game.game_table import game_of
from nainjaune_agents.measure.report.picture import write_picture
from nainjaune_agents.measure.report.text import text_table
from nainjaune_env.core.errors import AgentError, DealError, RulesError

from .high_card import HighCard
from .test_aec_game import brave, careful


def afraid(observation: Any, mask: Any) -> int:
    return int(observation[0] > 80)


PLAYERS = {"brave": brave, "careful": careful, "afraid": afraid}


def test_three_players_have_edges_advantages_and_a_ranking(tmp_path: Path) -> None:
    counts: list[int] = []
    table = game_table(HighCard, PLAYERS, deals=70, seed=1, progress=lambda so_far: counts.append(so_far.deals))
    assert counts == [32, 64, 70]
    assert len(table.edges) == 6
    assert table.edge("brave", "careful").mean == edge(brave, careful, 70, seed=1, env=HighCard, progress=False).mean
    assert table.advantage("brave", "afraid").mean == pytest.approx(
        (table.edge("brave", "afraid").mean - table.edge("afraid", "brave").mean) / 2
    )
    assert [name for name, _ in table.ranking] == ["afraid", "careful", "brave"]
    text = text_table(table)
    assert text.startswith("high_card, 3 players, 70 deals, seed 1\nReward a game of the hero")
    assert "Mean advantage over all others, reward a game:" in text
    write_picture(table, tmp_path / "table.png")
    assert (tmp_path / "table.png").stat().st_size > 10_000


class Thirds(HighCard):
    def paid(self) -> list[Any]:
        return [number / 3 for number in super().paid()]


def payoffs(hero: Any, field: Any, deals: int, seed: int) -> Any:
    """Of the hero in each seat, and of the field at one table, ``(2, D, n)``."""
    game = game_of(HighCard(), seed)
    seated = [game.seated(policy, "it") for policy in (hero, field)]
    seating = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    played = game.play(seated, seating, 0, deals, field=1).payoff / game.scale
    return np.stack([played[:, range(3), range(3)], played[:, 3]])


def test_the_luck_removed_is_the_variance_of_separate_deals_that_is_gone() -> None:
    players = {"careful": careful, "brave": brave}
    table = game_table(HighCard, players, deals=200, seed=2, one_way=True)
    third = game_table(Thirds, players, deals=200, seed=2, one_way=True)  # whose sums are rounded
    assert third.luck_removed("careful", "brave") == pytest.approx(table.luck_removed("careful", "brave"))
    with pytest.raises(AgentError, match="'brave' was not played in a field of 'careful' here"):
        table.luck_removed("brave", "careful")
    hero, alone = payoffs(careful, brave, 200, 2)
    gain = (hero - alone).mean(axis=1)
    assert table.edges[0].mean == pytest.approx(gain.mean())
    removed = 1 - 9 * gain.var(ddof=1) / hero.var(axis=0, ddof=1).sum()  # stakes sum to zero: the field alone is known
    assert table.luck_removed("careful", "brave") == pytest.approx(removed)
    assert f"Duplicate deals removed {100 * removed:.0f} % of the variance" in "\n".join(table.notes)
    times = 3 / 4 / (1 - removed)  # three games of the hero for each deal, and one of the field beside them
    assert table.times_as_many_games("careful", "brave") == pytest.approx(times)
    assert f"takes {times:.2f} times as many games" in "\n".join(table.notes)


def test_where_payoffs_do_not_sum_to_a_constant_the_field_has_luck_too() -> None:
    class Prize(HighCard):
        """The winner's number is paid by nobody."""

        def paid(self) -> list[Any]:
            return [value + self.dealt.max() * (value > 0) for value in super().paid()]

    table = game_table(Prize, {"careful": careful, "brave": brave}, deals=100, seed=2, one_way=True)
    spread = [sums.differences().variance for sums in (*table._payoffs[0, 1][:-1], *table._payoffs[1, 1][:-1])]
    removed = 1 - 9 * table.edges[0].moments.variance / sum(spread)
    assert table.luck_removed("careful", "brave") == pytest.approx(removed)
    assert table.times_as_many_games("careful", "brave") == pytest.approx(6 / 4 / (1 - removed))


def test_without_any_variance_nothing_is_said_of_luck() -> None:
    class Even(HighCard):
        def paid(self) -> list[Any]:
            return [0, 0, 0]

    table = game_table(Even, PLAYERS, deals=10, seed=1)
    assert math.isnan(table.luck_removed("brave", "careful"))
    assert not any("Duplicate deals removed" in note for note in table.notes)


def test_an_edge_prints_and_shows_itself() -> None:
    both = edge(careful, brave, 100, env=HighCard, both_ways=True, progress=False)
    first, second, stronger, where, *notes = str(both).splitlines()
    assert first.startswith("careful in a field of brave: +")
    assert second.startswith("brave in a field of careful: −")
    assert first.endswith(" reward a game beyond that field.")
    assert stronger.startswith("careful is stronger: the advantage, half the difference, is +")
    assert where == "95 % interval; high_card, 3 players, 100 deals, seed 0."
    assert notes[-1].startswith("Coverage of such intervals was checked by simulation")
    assert "<svg" in both._repr_html_()
    assert both.plot().get_xlabel() == "reward a game, with 95 % intervals over deals"
    pyplot.close("all")
    assert "brave in a field of brave (the field): " in str(edge(brave, brave, 10, env=HighCard, progress=False))


def test_bad_input_is_one_sentence() -> None:
    for option in ({"preset": "djeco"}, {"workers": 2}):
        with pytest.raises(RulesError, match=f"'env', alone: '{next(iter(option))}' is for games of this package"):
            edge(brave, careful, 4, env=HighCard, **option)  # type: ignore[arg-type]
    for players in ({}, {"brave": brave}, [brave, careful], {1: brave, 2: careful}):
        with pytest.raises(AgentError, match="Expected two or more players by name, not"):
            game_table(HighCard, players, deals=4, seed=1)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="one_way is True or False"):
        game_table(HighCard, PLAYERS, deals=4, seed=1, one_way="yes")  # type: ignore[arg-type]
    with pytest.raises(DealError, match="The number of deals"):
        game_table(HighCard, PLAYERS, deals=1, seed=1)
    with pytest.raises(DealError, match="A seed is"):
        game_table(HighCard, PLAYERS, deals=4, seed=-1)
