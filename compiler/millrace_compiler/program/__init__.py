"""Writes the program of a document: Python in the terms of Kafka Streams' DSL.

Each operator returns the ``words`` (calls) of its node, ``writer`` arranges the calls of a graph as
statements, and ``text`` formats them. Writer and reader share ``identities`` (default names of
nodes), ``comments`` (labels and descriptions) and ``classes`` (the source of processor classes).
"""
