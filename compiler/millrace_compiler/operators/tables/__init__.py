"""Operators between streams and tables."""
