"""Statistics, features and advice."""
