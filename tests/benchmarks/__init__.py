"""Measurements, run by hand; each prints what it measured and on what."""
