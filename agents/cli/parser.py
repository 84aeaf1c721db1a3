"""The argument parser: its help fits the terminal, and its errors have the form of all others."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, NoReturn

from .arguments import path
from .streams import FAILED, print_error


class Parser(argparse.ArgumentParser):
    """Prints an error as ``print_error`` does, with a pointer to the help in place of the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})
        self.set_defaults(parser=self)  # the innermost subcommand's counts
        self.register("type", Path, path)

    def error(self, message: str) -> NoReturn:
        """Prints ``message`` and exits."""
        end = "" if message.endswith((".", "?")) else "."
        print_error(self.prog, f"{message[:1].upper()}{message[1:]}{end} See {self.prog} --help.")
        sys.exit(FAILED)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints ``message``; argparse's own method ignores an :class:`OSError`, such as a full disk."""
        (file or sys.stderr).write(message)


class HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs to the width of the terminal; keeps examples, which are indented."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(part if part.startswith(" ") else textwrap.fill(" ".join(part.split()), width) for part in paragraphs)
