"""Estimates and tests."""
