"""Adaptors to other libraries' interfaces, one file each."""
