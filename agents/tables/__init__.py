"""Tables for people: in a terminal, on a server, and on a page without one. It may use ``study`` and below."""
