#!/usr/bin/env python3
"""A bot that is an HTTP server, in Python without any package: python3 http_bot.py 8000. It plays the first legal action."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(message):
    """Returns the answer to a message; None if it has none."""
    if message["type"] == "hello":
        about = {"name": "first over HTTP", "batch": 1024, "deterministic": True}
        return {"type": "ready", "protocol": 1, "id": message["id"], **about}
    if message["type"] == "turn":
        return {"type": "actions", "id": message["id"], "actions": [decision["legal"][0] for decision in message["decisions"]]}
    return None  # `stop`, `quit`, or a type that it does not know: the server goes on


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the connection is kept for the next message
    disable_nagle_algorithm = True

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = answer(message)
        body = b"" if said is None else json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        """Leaves the requests out of the log."""


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Handler)
server.daemon_threads = True
print(f"Listening at http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
