"""Addresses of players that are servers."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from nainjaune_env.core.errors import AgentError, quoted


def split_address(url: str, what: str = "The address of a bot") -> SplitResult:
    """Returns the parts of an address, which is ``what``; its host and port are valid.

    Raises :class:`~nainjaune_env.core.errors.AgentError` for an address that is none.
    """
    refusal = f"{what} is like ws://127.0.0.1:8000/path or http://127.0.0.1:8000/path, not {quoted(url)}."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise AgentError(refusal) from None
    if not host or port == 0 or parts.fragment or not (url.isascii() and url.isprintable()) or " " in url:
        raise AgentError(refusal)
    if parts.username is not None:
        raise AgentError(f"{what} has no user or password in it: results and reports would show them.")
    return parts
