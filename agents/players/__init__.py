"""Players by name: heuristics, searches, networks, exact solutions, and players from elsewhere. They use ``base``."""
