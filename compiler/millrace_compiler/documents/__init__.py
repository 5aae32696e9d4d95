"""Reads documents from JSON to nodes, edges, topics and settings. Operators are not known here."""
