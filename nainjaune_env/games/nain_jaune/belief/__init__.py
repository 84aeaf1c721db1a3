"""What a seat may believe of the cards that it cannot see."""
