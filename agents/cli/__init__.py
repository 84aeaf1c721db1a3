"""The command line: parse, build, call. It may use every room.

One module a subcommand: its ``NAME``, its ``HELP``, ``add_arguments(parser)``, and ``run(args)``, which returns the exit status.
"""
