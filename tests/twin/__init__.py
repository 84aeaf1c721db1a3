"""The slow, obvious twins of the games, written from their RULES.md alone, and their hand-worked tests."""
