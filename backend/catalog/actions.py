"""The catalog never changes while the server runs, so it has no actions."""
