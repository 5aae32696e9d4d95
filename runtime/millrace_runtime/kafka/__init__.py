"""Topics and offsets on the broker."""
