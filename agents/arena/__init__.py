"""Who is stronger: playing, duplicate tournaments, statistics and their report."""
