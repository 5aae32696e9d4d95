"""Operators that bring two inputs together."""
