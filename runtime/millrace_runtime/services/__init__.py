"""Processes that are confined to their own files, and end when they are asked to."""
