"""A WebSocket server that misbehaves as the path says: ``python bad_websocket.py`` prints its port."""

import asyncio
import os
import sys
import threading

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler


class Bad(WebSocketHandler):
    async def on_message(self, message):
        path = self.request.path
        if "quit" in message:
            if path != "/deaf":
                self.close()
        elif path == "/echo" or path == "/deaf":
            await self.write_message(message)
        elif path == "/slow":
            await asyncio.sleep(0.5)
            await self.write_message(message)
        elif path == "/twice":
            await self.write_message("first")
            await self.write_message(message)
        elif path == "/close":
            self.close(1011, "out of cards")
        elif path == "/die":
            os._exit(1)
        elif path == "/big":
            await self.write_message(" " * ((1 << 24) + 1))
        elif path == "/chatty":
            while True:
                await self.write_message("x")
        elif path == "/binary":
            await self.write_message(b"{}", binary=True)


class Page(RequestHandler):
    def get(self):
        self.write("no WebSocket")


async def main():
    (sock, *_) = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application([("/page", Page), ("/.*", Bad)], websocket_max_message_size=1 << 25)).add_sockets([sock])
    print(sock.getsockname()[1], flush=True)
    await asyncio.Event().wait()


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # it ends with its parent
asyncio.run(main())
