"""Rounds for players that read and write text: tasks, rewards, regret, a board, MCP. It may use ``study`` and below."""
