"""What the processor is, as far as its numbers depend on it."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from handler.adapters import cpu

X86 = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx2 fma avx512_vnni sse4_2 avx512f\n\nprocessor\t: 1\n"
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd asimddp i8mm\nCPU implementer\t: 0x41\n"


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        (X86, ("avx2", "avx512_vnni", "avx512f", "fma")),
        (ARM, ("asimddp", "i8mm")),
        ("flags\t:\n", ()),
        ("nothing known\n", ()),
        ("", ()),
        ("flags\t: avx2 \ufffd\n", ("avx2",)),
    ],
)
def test_features_are_the_telling_ones(cpuinfo: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    """Architecture first, then the features by which kernels are chosen, sorted; without them the first only."""
    path = tmp_path / "cpuinfo"
    path.write_text(cpuinfo, encoding="utf-8")

    assert (platform.machine(), *expected) == cpu.features(path)


def test_features_need_no_proc(tmp_path: Path) -> None:
    """A machine without /proc starts all the same."""
    assert (platform.machine(),) == cpu.features(tmp_path / "absent")


def test_features_survive_bytes_that_are_no_text(tmp_path: Path) -> None:
    """A processor's name may be anything."""
    path = tmp_path / "cpuinfo"
    path.write_bytes(b"model name\t: \xff\xfe\nflags\t: avx2\n")

    assert (platform.machine(), "avx2") == cpu.features(path)
