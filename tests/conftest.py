"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# No deadline: timings belong to benchmarks. Derandomized: a failure seen by one is seen by all.
settings.register_profile("tests", deadline=None, database=None, derandomize=True)
settings.load_profile("tests")
