"""Tests, by cost: unit, contract, functional, end to end."""
