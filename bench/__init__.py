"""Benchmarks of throughput, latency, state, start-up, faults, and the page."""
