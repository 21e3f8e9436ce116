"""Tests that need a Docker engine."""
