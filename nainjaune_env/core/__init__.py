"""Modules that all packages use: errors, validation, cards, random numbers, rules, and the interface of a game (``GameSpec``)."""
