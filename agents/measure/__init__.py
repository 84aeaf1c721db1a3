"""Who is stronger: duplicate play, tournaments, intervals, reports and the ladder. It may use ``players`` and below."""
