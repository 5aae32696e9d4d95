"""Commands on documents and checkpoints: compile, describe, simulate, run, verify and others."""

from cli.main import main

__all__ = ["main"]
