"""Rounds for language models by the Model Context Protocol (docs/language_models.md)."""
