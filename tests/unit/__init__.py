"""Tests of one part at a time, with sockets off."""
