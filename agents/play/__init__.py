"""A person at a table against agents, in a terminal."""
