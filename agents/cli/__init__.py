"""The command line: parse, build, call.

One module a subcommand: its ``NAME``, its ``HELP``, ``add_arguments(parser)``, and ``run(args)``, which returns the exit status.
"""
