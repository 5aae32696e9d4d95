"""Operators on tables, and conversions between streams and tables."""
