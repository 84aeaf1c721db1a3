"""A study of play: the decisions and rounds of many games as columns of Parquet files, and DuckDB queries of them."""
