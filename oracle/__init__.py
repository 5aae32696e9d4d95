"""The oracle: topology documents on the real Apache Kafka Streams library."""
