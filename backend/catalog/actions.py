"""The catalog never changes while the server runs; there is nothing to do to it."""
