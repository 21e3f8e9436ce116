"""The contenders: each a module with ``load(model, threads, watch)``, run by tests.benchmarks.worker."""
