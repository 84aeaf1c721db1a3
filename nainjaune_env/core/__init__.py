"""What every package stands on: errors, numbers, cards, rules and the seam of a game."""
