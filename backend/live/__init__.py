"""Live pages: a snapshot, then events."""
