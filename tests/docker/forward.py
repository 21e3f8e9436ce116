"""A forwarder on loopback to the local cloud, so that the SAM CLI pushes the image to it.

The SAM CLI pushes to AWS's registry or to one on this machine, and first signs in where the cloud says, at an address
of AWS. That address is replaced in the answer on the way, by one of the same length.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_CHUNK: Final = 65_536


@contextmanager
def forwarding(host: str, port: int, replaced: str) -> Iterator[int]:
    """Forward from a free port of 127.0.0.1, whose number is yielded, replacing an address by this one in answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    here: int = listener.getsockname()[1]
    old = replaced.encode()
    connections: list[socket.socket] = []
    new = f"http://127.0.0.1:{here}".encode().ljust(len(old), b"/")

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # closed
                return
            server = socket.create_connection((host, port))
            connections.extend((client, server))
            for source, target, answers in ((client, server, False), (server, client, True)):
                threading.Thread(target=pump, args=(source, target, answers), daemon=True).start()

    def pump(source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                target.sendall(data.replace(old, new) if answers else data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
        for connection in connections:
            connection.close()
