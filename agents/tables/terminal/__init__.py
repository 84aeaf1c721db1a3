"""A terminal game of one person against agents."""
