"""The plain dialect: a topology as ordinary Structured Streaming that imports only pyspark.

The input is the logical graph with its inferred ports. Differences from Kafka Streams are reported
at the nodes as diagnostics of severity *difference*; what plain Spark cannot express is refused.
"""
