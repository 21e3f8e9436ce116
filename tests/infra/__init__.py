"""Tests of the templates."""
