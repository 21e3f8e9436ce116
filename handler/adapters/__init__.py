"""The outside world, one vendor a file. Nothing here knows about HTTP, and no adapter imports another."""
