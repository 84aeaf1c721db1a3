"""The command line: parse, build, call. One module a subcommand."""
