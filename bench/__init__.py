"""Benchmarks: records per second, Kafka to Kafka; frames per second of the page."""
