"""Topics have no events: their state is Kafka's, and pages request it again."""
