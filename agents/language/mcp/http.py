"""Streamable HTTP."""

from __future__ import annotations

import socket

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

LOCAL = ("127.0.0.1", "localhost", "[::1]")
STOP_SECONDS = 2
"""How long open connections hold up the end."""


def serve_http(server: MCPServer, host: str, port: int) -> None:
    """Serves ``http://host:port/mcp`` until Ctrl-C; port 0 is any that is free. Prints the address.

    Requests that a browser sends for another site, whose name leads here, are refused. Raises ``OSError`` where it cannot listen.
    """
    with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each answer waits 40 ms for an acknowledgement
        name = f"[{host}]" if ":" in host else host
        names = {name, socket.gethostname(), *LOCAL}
        hosts = [*names, *(f"{one}:*" for one in names)]
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{one}" for one in hosts])
        app = server.streamable_http_app(transport_security=security, host=host)
        print(f"http://{name}:{listening.getsockname()[1]}/mcp", flush=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=STOP_SECONDS)
        uvicorn.Server(config).run(sockets=[listening])
