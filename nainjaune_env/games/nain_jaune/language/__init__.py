"""What the game says and understands, in English and French."""
