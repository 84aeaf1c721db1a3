"""What every game's speaker owes to the person it speaks to (`nainjaune_env.core.speech`), in every language."""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import IllegalActionError, RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES, Speaker
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import show_record
from nainjaune_env.registry import get_game, make_setup
from tests.support.contract import any_setup, helper, single
from tests.support.games import games_with
from tests.support.recorded import play
from tests.support.wordings import differences, texts_of

GAMES = pytest.mark.parametrize("game", games_with("speaker"))
SETUPS = [
    make_setup("nain_jaune", "djeco", 4),
    make_setup("nain_jaune", "tableau", 5, announce="explicit", decline="always"),
    make_setup("batasaurus", players=3),
    make_setup("batasaurus", players=3, memory="perfect"),
]


def speaker(setup: Setup, opening: Any, seat: int, language: str) -> Speaker:
    assert setup.game.speaker is not None
    return setup.game.speaker(setup, opening, seat, language)


@GAMES
def test_the_languages_have_the_same_texts_with_the_same_fields_and_are_not_one(game: str) -> None:
    """A phrase that was never translated would be the same in both."""
    said = importlib.import_module(f"nainjaune_env.games.{game}.language").LANGUAGES
    assert set(said) == set(LANGUAGES)
    assert differences(said["en"], said["fr"], free=("words.singular",)) == []
    texts, french = (dict(texts_of(said[language].phrases)) for language in ("en", "fr"))
    assert len(texts) > 20  # or nothing would be compared
    same = [where for where in texts if texts[where] == french[where] and len(texts[where].split()) > 2]
    assert same == []


@GAMES
def test_an_unknown_language(game: str) -> None:
    setup = get_game(game).setup(players=3)
    table, record = single(setup).tables[0], play(setup, 1)[0]
    pictures, render_text = setup.game.pictures, setup.game.render_text
    assert pictures is not None
    assert render_text is not None
    for told in (
        lambda: speaker(setup, table, 0, "de"),
        lambda: pictures.svg(setup, table, language="de"),
        lambda: render_text(setup, table, language="de"),
        lambda: show_record(record, "de"),
    ):
        with pytest.raises(RulesError, match=r"^Unknown language 'de'\. .*Valid: en, fr\."):
            told()


@settings(max_examples=60, deadline=None)
@given(any_setup("speaker"), st.integers(0, 2**32), st.sampled_from(LANGUAGES), st.randoms(use_true_random=False))
def test_what_is_to_be_typed_is_understood(setup: Setup, seed: int, language: str, rng: random.Random) -> None:
    """At every decision each legal action has a text that means it and no other; and the menu shows them, in the width given."""
    batch = single(setup, seed)
    seat = rng.randrange(setup.players)
    told = speaker(setup, batch.tables[0], seat, language)
    assert told.begun()
    decisions = 0
    while not batch.done[0] and decisions < 12:
        legal = legal_actions(int(batch.legal[0]))
        if batch.seat[0] == seat:
            decisions += 1
            typed = [told.typed(action) for action in legal]
            assert [told.parse(text) for text in typed] == legal
            assert [told.parse(f"  {text.upper()} ") for text in typed] == legal
            assert len(set(typed)) == len(legal)
            assert all(told.echo(action) for action in legal)
            menu = told.menu(60)
            assert all(len(line) <= 60 or line == menu[0] for line in menu)
            listed = "\n".join(menu[1:]).split()
            # of several words, as a call is, only the first must stand there
            assert len(legal) == 1 or all(text.split()[0] in listed for text in typed)
        action = rng.choice(legal)
        assert told.ply(action)
        batch.step([action])
    assert told.rules()
    assert all(told.about(topic) for topic in told.topics)


@settings(max_examples=60, deadline=None)
@given(any_setup("speaker"), st.integers(0, 2**32), st.sampled_from(LANGUAGES), st.text(max_size=20))
def test_whatever_is_typed_is_legal_or_refused_in_a_sentence(setup: Setup, seed: int, language: str, text: str) -> None:
    batch = single(setup, seed)
    told = speaker(setup, batch.tables[0], int(batch.seat[0]), language)
    answer: int | str
    try:
        answer = told.parse(text)
    except IllegalActionError as error:
        answer = str(error)
    if isinstance(answer, str):
        assert answer[0].isupper() or answer[0] in "'\""
        assert answer.endswith(".")
    else:
        assert answer in legal_actions(int(batch.legal[0]))


@GAMES
@pytest.mark.parametrize("language", LANGUAGES)
def test_settling_tells_the_payoffs(game: str, language: str) -> None:
    """Every seat is named, and a second round of a match is told as the first was."""
    setup = get_game(game).setup()
    batch = single(setup, 5)
    told = speaker(setup, batch.tables[0], 0, language)
    rng = random.Random(1)
    while not batch.done[0]:
        action = rng.choice(legal_actions(int(batch.legal[0])))
        told.ply(action)
        batch.step([action])
    text = "\n".join(told.settled()).lower()
    for seat in range(setup.players):
        assert f"{'seat' if language == 'en' else 'place'} {seat}" in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: f"{setup.game.name}-{setup.preset}-{setup.players}")
def test_hidden_cards_are_in_nothing_that_is_told_or_drawn(setup: Setup, language: str) -> None:
    """Two tables that differ in what the seat may not know: as long as the same is seen, the same is told and drawn."""
    told_plies = differing = 0
    for seed in range(60):
        if seed > 15 and told_plies > 300:
            break  # many rounds were compared to their ends
        rng = random.Random(seed)
        one = single(setup, seed)
        seat = seed % setup.players
        two = single(setup, seed)
        two.set_tables(0, helper(setup).reshuffle(setup, one.tables[0], seat, rng), trusted=True)
        differing += one.tables[0].tobytes() != two.tables[0].tobytes()
        first, second = (speaker(setup, batch.tables[0], seat, language) for batch in (one, two))
        histories: list[dict[str, Any]] = [{"opening": batch.tables[0].copy(), "actions": []} for batch in (one, two)]
        while not one.done[0]:
            assert everything_told(first, one, seat) == everything_told(second, two, seat)
            told_apart = [
                pictures_of(*both, seat, language, told_plies % 21 == 0) for both in zip((one, two), histories, strict=True)
            ]
            assert told_apart[0] == told_apart[1]
            like = {action: counterpart(setup, one, two, seat, action) for action in legal_actions(int(one.legal[0]))}
            alike = [action for action, same in like.items() if same is not None]
            if not alike:
                break  # what follows can be seen to differ
            action = rng.choice(alike)
            answer = like[action]
            said, heard = first.ply(action), second.ply(answer)
            if shown(first) != shown(second):
                break  # the seat sees another suit
            assert said == heard
            told_plies += 1
            for batch, history, number in zip((one, two), histories, (action, answer), strict=True):
                batch.step([number])
                history["actions"].append(number)
    assert differing > 5 / 6 * seed
    assert told_plies > 100


def pictures_of(batch: Batch, history: dict[str, Any], seat: int, language: str, draw: bool) -> list[str]:
    """The table as text, with how it came to be, and as a picture too, which takes as long as a round."""
    game, arguments = batch.game, (batch.setup, batch.tables[0], seat)
    assert game.render_text is not None
    assert game.pictures is not None
    ways = [game.render_text, game.pictures.svg] if draw else [game.render_text]
    return [way(*arguments, language=language, **history) for way in ways]


def counterpart(setup: Setup, one: Batch, two: Batch, seat: int, action: int) -> int | None:
    """The action at `two` that shows what `action` shows at `one`; the seat's own are the same."""
    if one.seat[0] == seat:
        return action if int(two.legal[0]) >> action & 1 else None
    result: int | None = helper(setup).counterpart(setup, one.tables[0], two.tables[0], action)
    return result


def shown(told: Any) -> Any:
    """The moves with real cards, where a game has such."""
    return list(getattr(told.replay, "moves", ()))


def everything_told(told: Speaker, batch: Batch, seat: int) -> list[Any]:
    lines: list[Any] = [told.about(topic) for topic in told.topics]
    if batch.seat[0] == seat:
        lines += [told.menu(70), [told.echo(action) for action in legal_actions(int(batch.legal[0]))]]
    return lines
