"""Versions of Spark and its Kafka connector that programs run on."""

SPARK = "4.3.0"

#: Maven coordinates of the connector; the newest published version that works with this Spark.
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
