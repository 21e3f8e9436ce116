"""Servers that answer badly: slowly, in drips, with refusals, or not at all. Each counts the connections it gets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final

DRIP_S: Final = 0.02


class Listener:
    """A listening socket on 127.0.0.1 whose connections are served by threads, until it is closed."""

    def __init__(self, serve: Callable[[socket.socket, threading.Event], None]) -> None:
        self._serve = serve
        self._closed = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        self.connections = 0
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        """Stop listening and hang up."""
        self._closed.set()
        for thread in self._threads:
            thread.join(5)
        self._socket.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(0.05)
                self._serve(connection, self._closed)
            except OSError:
                return  # the client hung up


def _silence(connection: socket.socket, closed: threading.Event) -> None:
    """Take the request and never answer."""
    closed.wait(60)


def _drips(connection: socket.socket, closed: threading.Event) -> None:
    """Answer with one byte at a time, each soon enough for any timeout of a socket."""
    for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Drip: drip\r\n" * 1000:
        if closed.wait(DRIP_S):
            return
        connection.sendall(bytes([byte]))


def _reply(status: int, body: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Return a server that answers every request with these bytes."""
    head = f"HTTP/1.1 {status} Answer\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    def serve(connection: socket.socket, closed: threading.Event) -> None:
        waiting = b""
        while not closed.is_set():
            try:
                part = connection.recv(65536)
            except TimeoutError:
                continue
            if not part:
                return
            waiting += part
            if _is_whole(waiting):
                connection.sendall(head + body)
                return

    return serve


def _is_whole(request: bytes) -> bool:
    head, end, body = request.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(end) and len(body) >= int(lengths[0] if lengths else 0)


Server = Callable[[], AbstractContextManager[Listener]]


def silent() -> AbstractContextManager[Listener]:
    """Run a server that accepts and never answers."""
    return _running(_silence)


def dripping() -> AbstractContextManager[Listener]:
    """Run a server that answers so slowly that it never ends."""
    return _running(_drips)


def replying(status: int, body: bytes) -> Server:
    """Return a server that answers every request with these bytes."""
    return partial(_running, _reply(status, body))


def refusing(status: int, code: str) -> Server:
    """Return a server of DynamoDB's errors: every request is refused with this code."""
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"}
    return replying(status, json.dumps(body).encode())


@contextmanager
def _running(serve: Callable[[socket.socket, threading.Event], None]) -> Iterator[Listener]:
    listener = Listener(serve)
    try:
        yield listener
    finally:
        listener.close()
