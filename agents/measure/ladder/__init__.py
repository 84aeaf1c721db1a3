"""A ladder: a folder of entries, rated by duplicate play between them (docs/ladder.md)."""
