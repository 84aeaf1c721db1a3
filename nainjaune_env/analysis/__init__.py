"""What is counted and described of play: statistics, features and advice, each a hook of the game and the loop that calls it."""
