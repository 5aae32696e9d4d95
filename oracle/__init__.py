"""The oracle runs topology documents on the real Apache Kafka Streams library."""
