"""The argument parser: its help fits the terminal, its errors have the form of all others, and name what was probably meant."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from nainjaune_env.core.errors import near_name_message, unknown_name_message

from .arguments import path
from .bot_options import PLAYER_OPTIONS
from .streams import FAILED, print_error

_PLAYER_ERRORS = tuple(f"argument --{name.replace('_', '-')}:" for name in PLAYER_OPTIONS)
"""How errors about options begin that ``--help`` leaves out."""


class Parser(argparse.ArgumentParser):
    """Prints an error as ``print_error`` does, with a pointer to the help in place of the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})
        self.set_defaults(parser=self)  # the innermost subcommand's counts
        self.register("type", Path, path)

    def error(self, message: str) -> NoReturn:
        """Prints ``message`` and exits."""
        end = "" if message.endswith((".", "?")) else "."
        help_option = "--help-players" if message.startswith(_PLAYER_ERRORS) else "--help"
        print_error(self.prog, f"{message[:1].upper()}{message[1:]}{end} See {self.prog} {help_option}.")
        sys.exit(FAILED)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses an unknown option first: argparse would name an argument that is missing because of it."""
        words = sys.argv[1:] if args is None else list(args)
        options = self._option_string_actions
        for word in words if "_ARGCOMPLETE" not in os.environ else ():
            name = word.partition("=")[0]
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break  # the others are no options, or those of a command
            if word.startswith("--") and " " not in word and not any(option.startswith(name) for option in options):
                self.error(near_name_message("option", name, options, cutoff=0.7))  # all begin with the same two dashes
        return super().parse_known_args(words, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuses a ``value`` that is none of the choices of ``action``."""
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, near_name_message("command", value, action.choices))
        raise argparse.ArgumentError(action, unknown_name_message("choice", value, action.choices))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints ``message``; argparse's own method ignores an :class:`OSError`, such as a full disk."""
        (file or sys.stderr).write(message)


class HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs to the width of the terminal; keeps examples, which are indented. Leaves out ``PLAYER_OPTIONS``."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action], *others: Any, **more: Any) -> None:
        """Adds the usage with ``actions``."""
        super().add_usage(usage, _in_help(actions), *others, **more)

    def add_arguments(self, actions: Iterable[argparse.Action]) -> None:
        """Adds the lines of ``actions``."""
        super().add_arguments(_in_help(actions))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(part if part.startswith(" ") else textwrap.fill(" ".join(part.split()), width) for part in paragraphs)


def _in_help(actions: Iterable[argparse.Action]) -> list[argparse.Action]:
    return [action for action in actions if action.dest not in PLAYER_OPTIONS]
