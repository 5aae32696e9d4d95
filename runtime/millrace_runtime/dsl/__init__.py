"""The API with which a program builds a topology: Kafka Streams' DSL in Python style.

Every call adds a node, an edge or a store to the topology document (`Topology.document`), from
which the compiler plans what runs.
"""
