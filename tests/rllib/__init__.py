"""What needs RLlib, which has an environment of its own: ``make rllib`` runs this folder, and nothing else does."""
