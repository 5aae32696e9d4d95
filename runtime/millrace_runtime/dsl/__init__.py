"""The words of a program: Kafka Streams' DSL in Python's manners.

A program builds a topology; every call adds a node, an edge or a store to the topology document
(`Topology.document`). What runs is planned from the document by the compiler.
"""
