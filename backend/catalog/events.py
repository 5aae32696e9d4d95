"""The catalog does not change while the server runs, so it has no events."""
