"""Players by name: heuristics, searches, networks, exact solutions, and players from elsewhere. It may use ``base``."""
