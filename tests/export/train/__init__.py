"""Tests of the training recipe."""
