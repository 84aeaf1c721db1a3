"""Finished matches as text that anyone can replay."""
