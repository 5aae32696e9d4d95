"""Where programs connect to: locations of checkpoints, and settings of Kafka clients."""
