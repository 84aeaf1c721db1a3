"""Reports of results: text tables, an HTML page, CSV, JSON and a picture."""
