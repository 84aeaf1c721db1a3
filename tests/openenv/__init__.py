"""What needs OpenEnv, which has an environment of its own: ``make openenv`` runs this folder, and nothing else does."""
