"""Processes that are confined to their own files."""
