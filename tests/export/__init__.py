"""Tests of the build-time tools."""
