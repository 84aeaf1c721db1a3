#!/usr/bin/env python3
"""A bot that is a WebSocket server, as a program: nainjaune bot check 'python3 websocket_bridge.py ws://127.0.0.1:8000'.

Each message is a text frame. It needs Tornado.
"""

import asyncio
import json
import sys

from tornado.websocket import websocket_connect


async def main():
    try:
        server = await websocket_connect(sys.argv[1], max_message_size=1 << 26)
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be reached: {error}")

    async def answers():
        while (text := await server.read_message()) is not None:
            print(json.dumps(json.loads(text)), flush=True)  # in one line
        sys.exit("The server closed the connection.")

    reading = asyncio.create_task(answers())
    while (line := await asyncio.to_thread(sys.stdin.readline)) and json.loads(line)["type"] != "quit" and not reading.done():
        await server.write_message(line)
    reading.cancel()
    server.close()


asyncio.run(main())
