"""Play between agents: duplicate tournaments, comparisons, rated rounds, whole matches, and what they measure."""
