"""Tokens: who may do what. They are random, and only their hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

TOKEN_BYTES = 24
MAX_CHARACTERS = 64
"""Characters of a text that can be a token."""


@dataclass(frozen=True)
class Pass:
    """What a token allows."""

    table: str | None
    """The table; None for the host, who makes tables."""
    seat: int | None
    """The seat of a player; None for a spectator."""

    @property
    def is_host(self) -> bool:
        """Whether it is the host's."""
        return self.table is None


def new_token() -> str:
    """Returns a random token, in characters that an address may have."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hashed(token: str) -> bytes:
    """Returns the hash under which a token is kept. Tokens have 192 random bits, so that it needs neither salt nor repetition."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
