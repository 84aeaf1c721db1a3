"""Who is stronger: duplicate play, tournaments, statistics, reports and the ladder. It uses ``players`` and ``base``."""
