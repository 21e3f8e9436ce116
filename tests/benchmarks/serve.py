"""Throughput of the local server: one client after the other, and many at once.

usage: python -m tests.benchmarks.serve [--clients N] [--requests N]
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.server import serving


def client(address: str, texts: list[str]) -> list[float]:
    """Send the texts over one connection; return each latency in milliseconds.

    Raises:
        RuntimeError: an answer was no 200.
    """
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    latencies: list[float] = []
    try:
        for text in texts:
            start = time.perf_counter()
            connection.request("POST", "/v1/fill-mask", json.dumps({"text": text}).encode())
            response = connection.getresponse()
            response.read()
            latencies.append((time.perf_counter() - start) * 1000)
            if response.status != 200:
                raise RuntimeError(f"status {response.status}")
    finally:
        connection.close()
    return latencies


def run(address: str, clients: int, requests: int, salt: str) -> dict[str, float]:
    """Share the requests among so many clients; no text comes twice, so no cache helps."""
    texts = [f"{salt}第{number}天的天气很[MASK]，大家都去公园里走一走。" for number in range(requests)]
    shares = [texts[at::clients] for at in range(clients)]
    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        latencies = [ms for share in pool.map(lambda share: client(address, share), shares) for ms in share]
    seconds = time.perf_counter() - start
    return {
        "clients": clients,
        "requests_per_s": round(requests / seconds, 1),
        "median_ms": round(statistics.median(latencies), 2),
        "p99_ms": round(statistics.quantiles(latencies, n=100)[98], 2),
    }


def main() -> int:
    """Measure and print one JSON line for each number of clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log") as address:
        run(address, 1, 200, "先")  # warm
        for clients in (1, options.clients, 1, options.clients):  # twice, so that drift shows
            print(json.dumps(run(address, clients, options.requests, f"{time.time_ns()}")), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
