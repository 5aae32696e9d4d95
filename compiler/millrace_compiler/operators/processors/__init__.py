"""Operators in the user's own Python."""
