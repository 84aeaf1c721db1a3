"""Players from elsewhere."""
