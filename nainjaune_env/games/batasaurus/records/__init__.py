"""Matches as records: writing, replay, verification and narration."""
