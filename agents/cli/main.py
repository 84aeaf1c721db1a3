"""The command ``nainjaune`` with its subcommands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.extras import install_command

from . import advise, analyse, curves, evaluate, exact, exploit, film, play, record, study, train, zoo

EXTRAS = {
    **dict.fromkeys(("torch", "safetensors", "tensorboard", "matplotlib", "jinja2", "markupsafe"), "train"),
    **dict.fromkeys(("pyarrow", "duckdb"), "study"),
}
"""The extra that installs a library which some commands need."""

COMMANDS = (train, curves, evaluate, play, advise, analyse, exact, exploit, record, film, study, zoo)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a subcommand; returns the exit status: 0 success, 1 an error printed as a sentence, 130 Ctrl-C, 141 closed output."""
    parser = argparse.ArgumentParser(
        prog="nainjaune",
        description="Train agents, rate them, play against them, and read or film records of matches.",
        epilog="Each command has its own --help.",
    )
    parser.add_argument("--version", action="version", version=version("nainjaune-env"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        sub = commands.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    args = parser.parse_args(argv)
    try:
        status = int(args.run(args))
        sys.stdout.flush()
        return status
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        print(f"nainjaune {args.command}: this command needs {error.name}: {install_command(extra)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of the output is gone; stops Python from writing again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (NainJauneError, OSError) as error:
        print(f"nainjaune {args.command}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
