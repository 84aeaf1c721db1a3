"""The slow, obvious twin of Nain Jaune, written from RULES.md alone, and its hand-worked tests."""
