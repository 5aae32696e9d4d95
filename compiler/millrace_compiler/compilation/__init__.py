"""Runs the passes of the compiler in order."""
