"""What kind of processor answers: int8 kernels differ by it, so it is logged once and shown with the model."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Final

# The features by which onnxruntime chooses its int8 and float kernels, as Linux spells them on x86-64 and arm64.
_TELLING: Final = frozenset(
    {
        *("avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8", "amx_bf16"),
        *("asimddp", "i8mm", "bf16", "sve"),
    }
)
_CPUINFO: Final = Path("/proc/cpuinfo")


def features(cpuinfo: Path = _CPUINFO) -> tuple[str, ...]:
    """Return the machine's architecture and the telling features of its processor; without /proc, the first only."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.split("\n"):
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return (platform.machine(), *sorted(_TELLING.intersection(value.split())))
    return (platform.machine(),)
