"""Types of Spark SQL, the types of Avro and Protobuf schemas, and random records of a type."""
