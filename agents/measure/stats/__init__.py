"""Estimators and tests: arithmetic on numbers, without any play. Nothing here knows of games or agents."""
