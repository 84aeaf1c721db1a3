"""Fuzzers: damaged files, odd arguments and killed runs, by the thousand. The only answers allowed are results and sentences.

A few cases of each run with all tests (``test_fuzz.py``); ``make fuzz`` runs them all (``__main__.py``).
"""
