"""Language models as players: ``chat:MODEL`` asks a chat-completions endpoint over the text seat (docs/chat.md)."""
