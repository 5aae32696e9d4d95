"""The simulator: runs of a topology on input lines instead of Kafka."""
