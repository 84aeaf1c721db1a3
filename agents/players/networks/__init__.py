"""Networks, their checkpoints, and the agents that play by them."""
