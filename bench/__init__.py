"""Benchmarks: records per second, Kafka to Kafka."""
