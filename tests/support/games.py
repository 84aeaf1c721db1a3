"""The games that a test is about: all, or those that offer some hooks."""

from __future__ import annotations

from nainjaune_env.registry import game_names, get_game


def games_with(*hooks: str) -> tuple[str, ...]:
    """Names of the games whose spec has all these ``hooks`` (``pictures``, ``speaker``, ...); at least one."""
    found = tuple(name for name in game_names() if all(getattr(get_game(name), hook) is not None for hook in hooks))
    assert found, f"no game has {', '.join(hooks)}"
    return found


def seats_at_most(game: str, players: int) -> int:
    """``players``, or the most seats of the game's default preset where it has fewer."""
    spec = get_game(game)
    return min(players, spec.presets[spec.default_preset].players[-1])
