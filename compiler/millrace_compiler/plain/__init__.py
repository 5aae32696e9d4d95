"""The plain dialect: a topology as ordinary Structured Streaming that imports nothing but pyspark.

Works from the logical graph and its inferred ports. What differs from Kafka Streams is noted at the
nodes as diagnostics of severity *difference*; what plain Spark cannot express is refused.
"""
