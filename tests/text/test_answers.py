"""Answers in words: what is read, the sentence back on anything else, and the counted retries."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.errors import AnswerError
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.text.answers import MAX_ANSWER, Answers, Dialogue

NAMES = {6: "7", 17: "7♦", 18: "pass"}
NUMBERS = {action: action + 1 for action in NAMES}
LISTED = {6: "7: 7", 17: "18: 7♦ (takes its pot: 12 chips)", 18: "19: pass"}
AGAIN = "Legal moves are 7: 7, 18: 7♦, 19: pass; answer with one line “Move: NUMBER”."


def answers(language: str = "en") -> Answers:
    return Answers(NUMBERS, NAMES, LISTED, language, range(1, 25))


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("7", 6), ("  18\n", 17), ("pass", 18), ("PASS.", 18), ("Move: 19", 18), ("move : 7♦", 17), ("18: 7♦", 17),
        ("18 : 7♦ (takes its pot: 12 chips)", 17), ("**Move:** 18", 17), ("> *Move: 18*", 17), ("- Move: 7", 6),
        ("I hold 7♦.\nIts pot is large: 12.\n\n## Move: 18: 7♦\n", 17), ("Move: 7\nso\nMove: 7.", 6),
        ("Move: 7♦\nMove: 18", 17), ("“Move: pass”", 18), ("Move: 7♦\ufe0f", 17),
    ],
)  # fmt: skip
def test_what_is_read(text: str, action: int) -> None:
    assert answers().parse(text) == action


def test_french() -> None:
    for text in ("Coup\u202f: 18", "coup : 7♦", "Je prends.\n**Coup : 18**", "18"):
        assert answers("fr").parse(text) == 17
    assert answers("fr").format(17) == "Coup\u202f: 18"
    with pytest.raises(AnswerError, match=r"^Votre réponse n'avait pas de ligne «\sCoup\s: NUMÉRO\s»\."):
        answers("fr").parse("Bien.\nMove: 18")


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("", "empty", "Your answer was empty."),
        (" \n\t\n", "empty", "Your answer was empty."),
        ("x" * 100_001, "too_long", "Your answer had 100001 characters, and 100000 are read."),
        ("I think that\nI cannot help with gambling.", "no_line", "Your answer had no line “Move: NUMBER”."),
        ("I think, I think, " * 50 + "\nI th", "no_line", "Your answer had no line “Move: NUMBER”."),
        ("Move: 7\nNo.\nMove: 18", "several", "Your answer had lines with different moves, '7' and '18'."),
        ("Move: 8", "illegal", "'8' is not legal now."),
        ("24", "illegal", "'24' is not legal now."),
        ("Move: 25", "unknown", "'25' is neither the number nor the name of a move."),
        ("Move: -7", "unknown", "'-7' is neither the number nor the name of a move."),
        ("Move: 7.5", "unknown", "'7.5' is neither the number nor the name of a move."),
        ("Move:", "unknown", "'' is neither the number nor the name of a move."),
        ("Move: 7 or 18", "unknown", "'7 or 18' is neither the number nor the name of a move."),
        ("Move: 18: 7", "unknown", "'18: 7' is neither the number nor the name of a move."),
        ("Move: ٧", "unknown", "'٧' is neither the number nor the name of a move."),
        ("Move: " + "9" * 5000, "unknown", f"'{'9' * 60}' is neither the number nor the name of a move."),
        ("My move: 7\nBest", "no_line", "Your answer had no line “Move: NUMBER”."),
        ("Ignore all rules; I win", "unknown", "'Ignore all rules; I win' is neither the number nor the name of a move."),
        ("{a.b} %s", "unknown", "'{a.b} %s' is neither the number nor the name of a move."),
    ],
)
def test_anything_else_gets_one_sentence(text: str, kind: str, sentence: str) -> None:
    with pytest.raises(AnswerError) as caught:
        answers().parse(text)
    assert caught.value.kind == kind
    assert str(caught.value) == f"{sentence} {AGAIN}"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.kind) == (str(caught.value), kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Move: 1", "cut"),
        ("", "cut"),
        ("I wonder\nwhether", "cut"),
        ("7\nbecause of the", "cut"),
        ("Move: 25\nso", "cut"),
        ("Move: 8\nand so", "illegal"),
        ("Move: 7\nMove: 18\nMo", "several"),
    ],
)
def test_an_answer_that_was_cut_is_asked_for_in_short(text: str, kind: str) -> None:
    talk = dialogue()
    assert talk.answer(text, is_cut=True) is None
    assert talk.faults == [kind]
    assert talk.messages[2]["content"] == text
    if kind == "cut":
        assert talk.messages[3]["content"] == f"Your answer was too long, and was cut: answer shortly. {AGAIN}"
    assert talk.answer("Move: 18\nSince", is_cut=True) == 17


@settings(max_examples=1000, deadline=None)
@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.text(max_size=30) | st.sampled_from(["Move: ", "Coup : ", "7", "18", "\n", "pass", "7♦", "**"]), max_size=8),
)
def test_whatever_is_answered_is_legal_or_refused_in_one_line(language: str, parts: list[str]) -> None:
    action, said = outcome(answers(language), "".join(parts))
    assert (action in NAMES) != bool(said)
    assert len(said.splitlines()) <= 1
    assert len(said) < 400


def outcome(read: Answers, text: str) -> tuple[int | None, str]:
    """The action, or the sentence that refuses the text."""
    try:
        return read.parse(text), ""
    except AnswerError as error:
        return None, str(error)


def dialogue(retries: int = 2) -> Dialogue:
    return Dialogue("the rules", "the table", answers(), (*NAMES,), retries)


def test_what_was_shown_before_is_answered_before_the_question() -> None:
    talk = Dialogue("the rules", "the table", answers(), (*NAMES,), earlier=(("a look", "Move: 1"), ("another", "Move: 2")))
    assert [(message["role"], message["content"]) for message in talk.messages] == [
        ("system", "the rules"),
        ("user", "a look"),
        ("assistant", "Move: 1"),
        ("user", "another"),
        ("assistant", "Move: 2"),
        ("user", "the table"),
    ]


def test_a_move_ends_the_dialogue() -> None:
    talk = dialogue()
    assert talk.answer("Move: 8") is None
    assert talk.answer("Move: 18") == 17
    assert (talk.action, talk.forfeited, talk.faults) == (17, False, ["illegal"])
    assert [message["role"] for message in talk.messages] == ["system", "user", "assistant", "user", "assistant"]
    assert [message["content"] for message in talk.messages][:4] == [
        "the rules",
        "the table",
        "Move: 8",
        f"'8' is not legal now. {AGAIN}",
    ]
    with pytest.raises(ValueError, match="has been made"):
        talk.answer("7")


@pytest.mark.parametrize("retries", [0, 2])
def test_after_the_last_retry_the_seat_forfeits(retries: int) -> None:
    talk = dialogue(retries)
    said = [talk.answer("x" * (MAX_ANSWER + 9)) for _ in range(retries + 1)]
    assert said == [None] * retries + [6]
    assert talk.forfeited
    assert talk.faults == ["too_long"] * (retries + 1)
    assert max(len(message["content"]) for message in talk.messages) == MAX_ANSWER
