"""What the adaptors share."""
