"""Operators that read records."""
