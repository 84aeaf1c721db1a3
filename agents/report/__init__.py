"""Reports of results: text tables, an HTML page, CSV and JSON."""
