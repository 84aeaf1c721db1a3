"""An HTTP server that misbehaves as the path says: ``python bad_http.py`` prints its port."""

import os
import socket
import sys
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


def request(file):
    """The path and the body of the next request; None at the end."""
    first = file.readline()
    if not first.startswith(b"POST"):
        return None
    length = 0
    while (line := file.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return first.split()[1].decode(), file.read(length)


def serve(sock, file):
    count = 0
    while (got := request(file)) is not None:
        path, body = got
        count += 1
        if path == "/echo" or b"quit" in body:
            sock.sendall(OK % (len(body), body))
        elif path == "/count":
            sock.sendall(OK % (1, b"%d" % count))
        elif path == "/once":  # closes the idle connection without saying so
            sock.sendall(OK % (1, b"%d" % count))
            return
        elif path == "/last":
            sock.sendall(OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) % (len(body), body))
            return
        elif path == "/slow":
            time.sleep(1)
            sock.sendall(OK % (len(body), body))
        elif path == "/drip":
            for byte in OK % (100, b" " * 100):
                sock.sendall(bytes([byte]))
                time.sleep(0.02)
        elif path == "/die":
            sock.sendall((OK % (100, b" " * 100))[:60])
            os._exit(1)
        elif path == "/big":
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
        elif path == "/chunks":
            sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                sock.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        elif path == "/negative":
            sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n")
            while True:
                sock.sendall(b" " * 0x100000)
        elif path == "/empty":
            sock.sendall(OK % (0, b""))
        elif path == "/error":
            sock.sendall(OK.replace(b"200 OK", b"500 Oops") % (2, b"{}"))
        elif path == "/moved":
            sock.sendall(b"HTTP/1.1 301 Moved\r\nLocation: /echo\r\nContent-Length: 0\r\n\r\n")
        elif path == "/nonsense":
            sock.sendall(b"220 mail.example.com ESMTP\r\n")
        elif path == "/headers":
            while True:
                sock.sendall(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000)


def shielded(sock):
    try:
        with sock, sock.makefile("rb") as file:
            serve(sock, file)
    except OSError:
        pass


listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # it ends with its parent
while True:
    threading.Thread(target=shielded, args=(listening.accept()[0],), daemon=True).start()
