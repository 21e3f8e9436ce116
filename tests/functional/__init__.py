"""Events of every kind through the entry point, with the real model."""
