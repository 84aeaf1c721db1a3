#!/usr/bin/env python3
"""A bot that is an HTTP server, as a program: nainjaune bot check 'python3 http_bridge.py http://127.0.0.1:8000'.

Each message goes there as the body of a POST; a response without a body is no answer.
"""

import http.client
import json
import sys
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1] if len(sys.argv) == 2 else "")
kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
if url.scheme not in kinds or not url.hostname:
    sys.exit("Expected one address: http_bridge.py http://host:port/path")
server = kinds[url.scheme](url.hostname, url.port)
path = (url.path or "/") + (f"?{url.query}" if url.query else "")


def post(line, again=True):
    """Returns the status and the body of the response; a server may have closed an idle connection."""
    try:
        server.request("POST", path, line, {"Content-Type": "application/json"})
        response = server.getresponse()
        return response.status, response.read()
    except ConnectionError as error:
        server.close()
        return post(line, again=False) if again else sys.exit(f"{sys.argv[1]} cannot be reached: {error}")


for line in sys.stdin.buffer:
    status, body = post(line)
    if status != 200:
        sys.exit(f"{sys.argv[1]} answered with the status {status}: {body[:200]!r}")
    if body:
        print(json.dumps(json.loads(body)), flush=True)  # in one line
    if json.loads(line)["type"] == "quit":
        break
