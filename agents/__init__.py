"""Players and their measurement: the agent protocol, heuristics, networks, the arena and the trainers."""
