"""Agents on an NVIDIA GPU, where the tables are. Nothing in here is imported unless a ``device="cuda"`` asks for it."""
