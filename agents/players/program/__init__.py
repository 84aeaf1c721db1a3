"""Bots: players that are other programs, asked over the bot protocol (docs/protocol.md)."""
