"""One folder a game. A folder here is a game: the registry finds it by looking."""

DEFAULT_GAME = "nain_jaune"
"""The game that is meant where none is named."""
