"""Tables as text and pictures."""
