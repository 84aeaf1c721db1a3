"""Train a player: ``python train.py CONFIG --out FOLDER``; the same as ``nainjaune train``."""

import sys

from nainjaune_agents.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
