"""What the advice hooks of every game (`nainjaune_env.analysis.advice_hook`) provide, in every language."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.study.advice.decisions import decisions
from nainjaune_agents.study.advice.playouts import advice_hooks_of, columns_of
from nainjaune_env.analysis.advice_hook import BEST, Forecast, percent, signed
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import setup_of
from nainjaune_env.registry import get_game
from tests.support.games import games_with
from tests.support.recorded import play

GAMES = pytest.mark.parametrize("game", games_with("advice"))
SETUPS = [get_game("nain_jaune").setup("djeco", 3, decline="always", announce="explicit"), get_game("batasaurus").setup(None, 3)]
EACH = pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.game.name)


@GAMES
def test_every_word_is_there_in_every_language(game: str) -> None:
    hooks = advice_hooks_of(get_game(game))
    for texts in (hooks.UNITS, *(p.head for p in hooks.PROSPECTS), *(kind.title for kind in hooks.KINDS)):
        assert set(texts) == set(LANGUAGES)
    for prospect in hooks.PROSPECTS:
        assert prospect.parts is None or set(prospect.parts) == set(LANGUAGES)


@GAMES
def test_what_is_forecast_is_counted(game: str) -> None:
    spec = get_game(game)
    hooks, measures = advice_hooks_of(spec), measures_of(spec)
    names = [column.name for column in columns_of(spec)]
    assert names[0] == "payoff"
    assert {p.name for p in hooks.PROSPECTS} <= {BEST, *(measures.TALLY.names or ())}
    for prospect in hooks.PROSPECTS:
        assert names.count(prospect.name) == len((prospect.parts or {"en": ("",)})["en"])
    (account,) = (measure for measure in measures.MEASURES if measure.account)
    assert hooks.ACCOUNT == account.name == account.counts
    assert names.count(account.name) == len(account.parts)


@EACH
def test_every_decision_of_a_match_can_be_told(setup: Setup) -> None:
    kinds = set()
    for record in play(setup, 3, count=3, episode="round"):
        own = setup_of(record)
        hooks = advice_hooks_of(own.game)
        plies = list(decisions(own, record))
        assert plies
        for ply in plies:
            legal = int(own.game.kernel.legal(ply.table, own.kernel_rules))
            assert legal >> ply.action & 1
            kinds.add(hooks.kind(ply.table, own.kernel_rules, legal))
            for language in LANGUAGES:
                lines = hooks.describe(own, ply.table, language)
                assert all(head and text for head, text in lines)
                names = [hooks.named(ply.table, action, language) for action in range(63) if legal >> action & 1]
                assert all(names)
                assert len(set(names)) == len(names)
                assert hooks.paint(lines[1][1]) or lines[1][1]
            assert set(hooks.at_stake(own, ply.table)) <= set(range(5))
    assert kinds <= set(range(len(advice_hooks_of(setup.game).KINDS)))
    assert len(kinds) >= 2


@EACH
def test_the_table_told_of_is_the_seats_alone(setup: Setup) -> None:
    """Wiping it once more changes nothing."""
    (record, *_) = play(setup, 4, episode="round")
    own = setup_of(record)
    for ply in decisions(own, record):
        again = np.array([ply.table])
        own.game.kernel.redact(again[0], own.kernel_rules, int(ply.table.seat))
        assert again[0].tobytes() == ply.table.tobytes()


@GAMES
def test_reasons_name_only_chances_that_are_clear(game: str) -> None:
    hooks = advice_hooks_of(get_game(game))
    sizes = {p.name: len((p.parts or {"en": ("",)})["en"]) for p in hooks.PROSPECTS}
    more, less = ({name: np.full(size, share) for name, size in sizes.items()} for share in (0.75, 0.25))
    noise, clear = ({name: np.full(size, sure) for name, size in sizes.items()} for sure in (False, True))
    (account,) = (measure for measure in measures_of(get_game(game)).MEASURES if measure.account)
    for language in LANGUAGES:
        percentages = 0
        for source in range(len(account.parts)):
            for chips, better, other in ((1.25, more, less), (-1.25, less, more)):
                plain = hooks.reason(source, Forecast(chips, better, other, noise), language)
                shown = hooks.reason(source, Forecast(chips, better, other, clear), language)
                assert signed(chips, language) in plain
                assert "%" not in plain
                assert shown.startswith(plain)
                percentages += "%" in shown
        assert percentages >= 2


def test_a_game_without_a_notation_says_so() -> None:
    setup = SETUPS[1]
    with pytest.raises(DealError, match="A position of Batasaurus cannot be written: give a record"):
        advice_hooks_of(setup.game).read(setup, {"hand": "1 2 3"})


def test_numbers_as_people_write_them() -> None:
    assert [signed(x, "en") for x in (1.25, -0.31, 0.04, -0.04, 0)] == ["+1.2", "−0.3", "0.0", "0.0", "0.0"]
    assert signed(-3.14159, "fr", 2) == "−3,14"
    assert percent(0.413) == "41\u00a0%"
