"""Matches as records: written, replayed, verified, narrated."""
