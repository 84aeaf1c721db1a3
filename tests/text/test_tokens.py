"""Lengths of texts: the estimate, and a tokenizer of the caller's."""

from __future__ import annotations

from nainjaune_env.text.tokens import count_tokens


class Words:
    def encode(self, text: str) -> list[str]:
        return text.split()


def test_tokens_are_estimated_from_bytes_or_counted_by_a_tokenizer() -> None:
    assert [count_tokens(text) for text in ("", "a", "abcd", "abcde", "7♦")] == [0, 1, 1, 2, 1]
    assert count_tokens("one two three", Words()) == 3
    assert count_tokens("one two three", list) == 13
