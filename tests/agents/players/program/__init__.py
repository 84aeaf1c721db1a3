"""Bots: real programs on the other end."""
