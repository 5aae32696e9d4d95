"""Operators that fold records by key."""
