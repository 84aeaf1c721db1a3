"""Players of other libraries' games, compared as ours are: duplicate deals with rotated seats (docs/any_game.md)."""
