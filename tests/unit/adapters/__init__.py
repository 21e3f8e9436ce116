"""Tests of the adapters that need no server."""
