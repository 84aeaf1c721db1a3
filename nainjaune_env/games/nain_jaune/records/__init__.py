"""Matches as records: written, replayed, verified, told."""
