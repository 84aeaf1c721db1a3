"""What a seat can infer about cards that it does not see."""
