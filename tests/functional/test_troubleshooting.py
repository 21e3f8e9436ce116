"""docs/troubleshooting.md: every claim has a test, by a name that exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
ENTRIES: Final = [
    entry
    for entry in re.split(r"\n\n", (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"))
    if entry.startswith("**")
]


def existing_tests() -> set[str]:
    """Return the names of all tests in the repository."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for source in sources for name in re.findall(r"^def (test_\w+)\(", source, re.MULTILINE)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.split("**")[1][:40])
def test_entry_names_tests_that_exist(entry: str) -> None:
    """A claim whose test was renamed or removed is no longer proved."""
    named = set(re.findall(r"`(test_\w+)`", entry))

    assert named
    assert named <= existing_tests()


def test_entries_are_at_least_fifteen() -> None:
    """The page covers what people meet, and its parts are found by this test."""
    assert len(ENTRIES) >= 15
