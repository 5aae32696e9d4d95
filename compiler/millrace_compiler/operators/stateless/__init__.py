"""Operators that look at one record at a time."""
