"""Rate agents by duplicate play: ``python evaluate.py --agents A B …``; the same as ``nainjaune evaluate``."""

import sys

from nainjaune_agents.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", *sys.argv[1:]]))
