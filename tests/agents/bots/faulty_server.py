"""A server whose bot plays the first legal action, and a deed at every third turn: ``python faulty_server.py KIND DEED [CERT]``.

``CERT`` is a file with a certificate and its key, for TLS.
"""

import asyncio
import json
import os
import sys
import threading
import time

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

DEED = sys.argv[2]
turns = 0


def answer(text):
    global turns
    message = json.loads(text)
    if message["type"] == "hello":
        return json.dumps({"type": "ready", "protocol": 1, "id": message["id"], "name": DEED})
    if message["type"] != "turn":
        return ""
    turns += 1
    actions = [row["legal"][0] for row in message["decisions"]]
    if turns % 3 == 0:
        if DEED == "dies":
            os._exit(1)
        if DEED == "slow":
            time.sleep(0.3)
        if DEED == "large":
            return " " * ((1 << 24) + 1)
        if DEED == "words":
            actions = ["a card"]
    return json.dumps({"type": "actions", "id": message["id"], "actions": actions})


class Page(RequestHandler):
    def post(self):
        self.write(answer(self.request.body))


class Socket(WebSocketHandler):
    def on_message(self, text):
        if said := answer(text):
            self.write_message(said)


async def main():
    (sock, *_) = bind_sockets(0, "127.0.0.1")
    tls = {"certfile": sys.argv[3], "keyfile": sys.argv[3]} if len(sys.argv) > 3 else None
    HTTPServer(Application([("/", Page if sys.argv[1] == "http" else Socket)]), ssl_options=tls).add_sockets([sock])
    print(sock.getsockname()[1], flush=True)
    await asyncio.Event().wait()


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # it ends with its parent
asyncio.run(main())
