"""One round with a language model, or any player that reads and writes text, in one seat, and what it was worth."""
