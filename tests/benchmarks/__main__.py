"""All figures of docs/performance.md, in one run.

usage: python -m tests.benchmarks [--quick] [--checkpoint FOLDER] [--out build/bench.json]

``make bench`` and ``make bench-quick`` install what it needs first. --checkpoint is the embedded model in fp32, as
``make train`` leaves it: without it, the embedded model is timed, but the peers have nothing to serve or agree with.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks import machine, measure, operators, prepare, report
from tests.benchmarks.contenders import ALL, DIRECT, HTTP, QUICK, REFERENCE, ROOT, SESSION, Contender
from tests.support import ministack

_LENGTHS: Final = (8, 16, 32, 64, 128)
_QUICK_LENGTHS: Final = (16, 32, 128)
_NETWORK: Final = "bert-base"


def say(line: str) -> None:
    """Tell what goes on."""
    print(line, file=sys.stderr, flush=True)


def limits(times: Mapping[int, measure.Times]) -> dict[str, Any]:
    """Measure the processor and compare a BERT-base with it."""
    found: dict[str, Any] = {"read_gb_s": machine.read_rate(), "threads": {}}
    for threads, each in times.items():
        rates = {rows: machine.product_rate(rows, threads, integers=True) for rows in (8, 16, 32, 64, 128)}
        session = {length: statistics.median(took) for length, took in each[SESSION.label].items()}
        found["threads"][threads] = {
            "int8_gop_s": rates,
            "fp32_gop_s": {rows: machine.product_rate(rows, threads, integers=False) for rows in (16, 128)},
            "share_of_product_rate": {
                length: report.operations(length) / (ms / 1000) / 1e9 / rates[length]
                for length, ms in session.items()
                if length in rates
            },
        }
    return found


def sizes() -> dict[str, Any]:
    """Return MB (1e6 bytes) of what is deployed, and of the image where an engine has it."""
    megabytes: dict[str, Any] = {}
    for network in (_NETWORK, "albert-tiny", prepare.EMBEDDED):
        artifact = prepare.folders(network)["artifact"]
        megabytes[network] = sum(file.stat().st_size for file in artifact.iterdir()) / 1e6
        traced = prepare.HOME / network / "peers" / "traced" / "model.onnx"
        if traced.exists():
            megabytes[f"{network}, fp32"] = traced.stat().st_size / 1e6
    if docker := shutil.which("docker"):
        command = [docker, "image", "inspect", "-f", "{{.Size}}", "tiankong"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            megabytes["image with the embedded model"] = int(done.stdout) / 1e6
    return megabytes


def cache(folders: Mapping[str, Path]) -> dict[str, float]:
    """Return milliseconds of a hit in memory, a hit in a DynamoDB on this machine, and of the run that it saves."""
    found = {"memory_hit_ms": measure.memory_hits(folders, 1, 200)}
    with ministack.running() as address:
        variables = {
            "AWS_ENDPOINT_URL_DYNAMODB": address,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "TIANKONG_CACHE_TABLE": "bench",
        }
        ministack.make_table(ministack.dynamodb(address), "bench")
        hit, run = measure.table_hits(folders, 1, 40, variables)
    return found | {"table_hit_ms": hit, "run_of_128_tokens_ms": run}


def mixed() -> dict[str, Any]:
    """Return the memory over 2,000 events of mixed length, on the embedded model."""
    levels = {}
    for setting in ("on", "off"):
        command = [sys.executable, "-m", "tests.benchmarks.memory", "--cache", setting]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        levels[f"cache {setting}"] = json.loads(done.stdout)
    return levels


def agreement(checkpoint: Path, positions: int, contenders: Sequence[Contender]) -> dict[str, Any]:
    """Return the agreement of the int8 contenders with fp32 on the embedded model."""
    served = prepare.folders(prepare.EMBEDDED, checkpoint, fast=True)
    return measure.agreement([each for each in contenders if each.int8], served, positions)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure everything that the options ask for."""
    quick = options.quick
    contenders, lengths = (QUICK, _QUICK_LENGTHS) if quick else (ALL, _LENGTHS)
    rounds = options.rounds or (5 if quick else 10)
    say("preparing checkpoints, artifacts and what the peers serve (minutes, once) …")
    networks = {_NETWORK: prepare.folders(_NETWORK, fast=not quick)}
    if not quick:
        networks["albert-tiny"] = prepare.folders("albert-tiny", fast=True)
    networks[prepare.EMBEDDED] = prepare.folders(prepare.EMBEDDED, options.checkpoint, fast=not quick)
    results: dict[str, Any] = {"machine": machine.facts(), "warm": {}, "cold": {}, "memory": {}}
    by_threads: dict[int, measure.Times] = {}
    for network, folders in networks.items():
        some = [each for each in contenders if each.serves in folders]
        results["warm"][network] = {}
        for threads in (2,) if quick else (2, 1):
            say(f"warm: {network}, {threads} thread(s), {len(some)} contenders …")
            times, memory = measure.warm(some, folders, threads, lengths, rounds)
            results["warm"][network][threads] = times
            results["memory"].setdefault(network, memory)
            if network == _NETWORK:
                by_threads[threads] = times
    say("cold starts …")
    for network, candidates in ((_NETWORK, contenders), (prepare.EMBEDDED, (DIRECT, HTTP, REFERENCE))):
        some = [each for each in candidates if each.serves in networks[network] and each.whole]
        results["cold"][network] = measure.cold(some, networks[network], 2, min(5, rounds))
    results["memory"]["bare imports"] = measure.memory_of_imports(networks[_NETWORK])
    say("limits of the processor …")
    results["limits"] = limits(by_threads)
    base = networks[_NETWORK]["artifact"]
    results["operators"] = {length: operators.profile(base, 2, length) for length in (16, 128)}
    results["sizes"] = sizes()
    if not quick:
        say("batches, caches, mixed events …")
        results["batches"] = measure.batches(networks[_NETWORK], 2, (1, 8, 64), 5)
        results["cache"] = cache(networks[_NETWORK])
        results["mixed"] = mixed()
        results["cost"] = {
            f"{threads * 1769} MB, {length} tokens": report.cost_per_million(
                statistics.median(times[DIRECT.label][length]), threads
            )
            for threads, times in by_threads.items()
            for length in lengths
        }
        if options.checkpoint:
            say("agreement with fp32 …")
            results["agreement"] = agreement(options.checkpoint, 3000, contenders)
    return results


def main() -> int:
    """Measure, write the file, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer contenders, lengths and rounds: under 3 minutes")
    parser.add_argument("--rounds", type=int, help="turns of each contender")
    parser.add_argument("--checkpoint", type=Path, help="the embedded model in fp32")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.json")
    options = parser.parse_args()
    try:
        results = run(options)
    except prepare.NotPreparedError as error:
        say(f"bench: {error}")
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")
    print(report.markdown(json.loads(options.out.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
