"""One folder per game: the registry finds every package in this folder."""

DEFAULT_GAME = "nain_jaune"
"""The game that is meant where none is named."""
