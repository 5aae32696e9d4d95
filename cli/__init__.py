"""The commands a tester uses: compile, describe, simulate, conformance, run, verify."""

from cli.main import main

__all__ = ["main"]
