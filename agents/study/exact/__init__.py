"""Whole game trees: exact values, counterfactual regret minimization and best responses."""
