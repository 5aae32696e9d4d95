"""Operators that write records."""
