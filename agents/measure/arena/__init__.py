"""Playing tables to their end, the tables that rounds start with, and whole matches as records."""
