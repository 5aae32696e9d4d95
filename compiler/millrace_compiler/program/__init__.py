"""The program of a document: a logical Kafka Streams program in Python, in the DSL's words.

Each operator returns the ``words`` of its nodes; ``writer`` arranges those of a graph as
statements; ``text`` formats them. ``identities``, ``comments`` and ``classes``
are shared by writer and reader: default names of nodes, comments as labels and
descriptions, and the source of processor classes.
"""
