"""The shared library of compiled loops that a wheel brings: what is in it, and how it is built. Only a build imports this."""
