"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# One thread for a run: with more, whoever calls leaves a processor to the other thread for good, and all that it starts
# does too. Tests that are about several threads ask for them.
os.environ.setdefault("TIANKONG_THREADS", "1")

# No deadline: timings belong to benchmarks. Derandomized: a failure seen by one is seen by all.
settings.register_profile("tests", deadline=None, database=None, derandomize=True)
settings.load_profile("tests")
