"""Sweeps: configurations trained with several seeds each, from a grid (``grid``) or by a search with Optuna (``search``)."""
