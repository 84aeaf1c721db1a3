"""The text seat: for players that read words, all that a seat may know of a decision, and strict answers (docs/text.md)."""
