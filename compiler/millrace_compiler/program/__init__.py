"""Writes the program of a document: Python in the terms of Kafka Streams' DSL.

Each operator returns the ``words`` (calls) of its node, ``body`` arranges the calls of a graph as
statements, ``text`` formats them, and ``writer`` makes a file of the topology and of the functions
(``functions``) that its fragments are. Writer and reader share ``identities`` (default names of
nodes), ``comments`` (labels and descriptions) and ``classes`` (the source of processor classes).
"""
