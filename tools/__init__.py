"""The project's own commands, behind ``./millrace``."""
