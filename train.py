"""Train a player: ``python train.py CONFIG --out FOLDER``; the same as ``nainjaune train``."""

import sys

try:
    from nainjaune_agents.cli.main import main
except ModuleNotFoundError as error:
    if error.name != "nainjaune_agents":
        raise
    sys.exit(
        f"nainjaune-env is not installed for {sys.executable}: `make setup` installs it for .venv/bin/python, and "
        '`pip install -e ".[numba,train]"` for this one.'
    )

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
