"""Stores: named state of operators."""
