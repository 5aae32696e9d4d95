"""Faults of a document as data with an address, and their messages."""
