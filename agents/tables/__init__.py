"""Tables for people: in a terminal, on a server, and on a page without one. They use ``study``, ``train`` and what these use."""
