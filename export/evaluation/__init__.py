"""Sentences written for this project, which an export is measured with."""
