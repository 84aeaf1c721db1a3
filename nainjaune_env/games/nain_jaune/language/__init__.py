"""What is said and typed, in English and French."""
