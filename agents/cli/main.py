# PYTHON_ARGCOMPLETE_OK
"""The command ``nainjaune`` with its subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from nainjaune_env.core.errors import MissingLibraryError, NainJauneError, quoted

from . import (
    advise,
    agents,
    analyse,
    bot,
    curves,
    evaluate,
    exact,
    exploit,
    export,
    film,
    ladder,
    leaderboard,
    library,
    mcp,
    network,
    play,
    play_site,
    puzzles,
    record,
    serve,
    study,
    sweep,
    train,
    view,
    wasm,
    watch,
    zoo,
)  # fmt: skip
from .bot_options import check_bot_arguments
from .interrupts import ignore_at_exit, interrupt_once
from .parser import Parser
from .streams import FAILED, close_output, open_streams, print_error

EXTRAS = {
    "safetensors": "players",
    **dict.fromkeys(("matplotlib", "jinja2", "markupsafe"), "report"),
    **dict.fromkeys(("torch", "tensorboard"), "train"),
    **dict.fromkeys(("pyarrow", "duckdb"), "study"),
    "tornado": "serve",
    **dict.fromkeys(("onnx", "onnxruntime"), "onnx"),
    **{name: name for name in ("ray", "optuna", "mcp")},
}
"""The extra that installs a library which some commands need."""

COMMANDS = (
    train, sweep, curves, agents, bot, evaluate, watch, ladder, leaderboard, play, serve, mcp, advise,
    analyse, puzzles, exact, exploit, record, film, view, study, zoo, export, wasm, library, network, play_site,
)  # fmt: skip


STOPPED = 130
"""The exit status after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a subcommand; returns the exit status: 0 success, 2 an error printed as a sentence, 130 Ctrl-C, 141 a broken pipe."""
    open_streams()
    restore, status = interrupt_once(), 0
    try:
        status = _run(argv)
    finally:
        if status != STOPPED:  # after Ctrl-C Python ends, and a further one does not disturb it
            restore()
    return status


def _run(argv: Sequence[str] | None) -> int:
    program = "nainjaune"
    try:
        try:
            parser = command_line(program)
            if "_ARGCOMPLETE" in os.environ:
                from .completion import complete

                complete(parser)
            check_words(parser, sys.argv[1:] if argv is None else argv)
            args, unknown = parser.parse_known_args(argv)
            program = args.parser.prog
            if unknown:
                args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
            check_bot_arguments(args)
            return int(args.run(args))
        finally:
            close_output()
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        extra = EXTRAS.get(library)
        if extra is None:
            return _players_failure(program, error)
        print_error(program, MissingLibraryError("This command", library, extra))
        return FAILED
    except KeyboardInterrupt:
        ignore_at_exit()
        print_error(program, "Stopped.")
        return STOPPED
    except BrokenPipeError:
        return 141
    except (NainJauneError, OSError) as error:
        print_error(program, error)
        return FAILED
    except Exception as error:
        return _players_failure(program, error)


def _players_failure(program: str, error: Exception) -> int:
    """Prints an error that a player's code has raised; raises it if it is ours."""
    from ..players.foreign import players_failure

    text = players_failure(error)
    if text is None:
        raise error
    print_error(program, text)
    return FAILED


def check_words(parser: Parser, words: Sequence[str]) -> None:
    """Ends the program with a sentence where one of the ``words`` has a character that no file name and no terminal has."""
    for word in words:
        try:
            if "\0" not in word and os.fsencode(word) is not None:
                continue
        except UnicodeEncodeError:
            pass
        parser.error(f"an argument has a character that no name can have: {quoted(word)}")


def command_line(program: str) -> Parser:
    """Returns the parser of all subcommands; parsed arguments have the ``parser`` and the function ``run`` of their own."""
    parser = Parser(
        prog=program,
        description="Train agents, rate them, play against them, and read or film records of matches.",
        epilog="Each command has its own --help.",
    )
    parser.add_argument("--version", action="version", version=version("nainjaune-env"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        sub = commands.add_parser(module.NAME, help=module.HELP, description=module.__doc__)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
