"""What happens to topics is Kafka's to keep; pages ask again."""
