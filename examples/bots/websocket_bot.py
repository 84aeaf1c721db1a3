#!/usr/bin/env python3
"""A bot that is a WebSocket server, with Tornado: python3 websocket_bot.py 8000. It plays every legal action equally often."""

import asyncio
import json
import sys

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketHandler


class Bot(WebSocketHandler):
    """One connection: one host."""

    def on_message(self, text):
        message = json.loads(text)
        if message["type"] == "hello":
            self.say(
                "ready", message, protocol=1, name="uniform over a WebSocket", batch=1024, distribution=True, deterministic=True
            )
        elif message["type"] == "turn":
            counts = [len(decision["legal"]) for decision in message["decisions"]]
            self.say("probabilities", message, probabilities=[[1 / count] * count for count in counts])
        elif message["type"] == "quit":
            self.close()

    def say(self, kind, message, **fields):
        self.write_message(json.dumps({"type": kind, "id": message["id"], **fields}))


async def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    (socket,) = bind_sockets(port, "127.0.0.1")
    HTTPServer(Application([("/", Bot)], websocket_max_message_size=1 << 26)).add_socket(socket)
    print(f"Listening at ws://127.0.0.1:{socket.getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
