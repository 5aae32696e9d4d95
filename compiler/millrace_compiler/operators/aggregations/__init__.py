"""Operators that aggregate records by key."""
