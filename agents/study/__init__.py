"""A study of play: decisions and rounds of mass play as columns in Parquet files, and helpers to query them with DuckDB."""
