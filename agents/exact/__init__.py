"""Exact truth on games small enough to hold: values, best responses, equilibria."""
