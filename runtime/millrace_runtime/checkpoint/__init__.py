"""A job's checkpoint: its files, its notes, its lease, and the storage that holds it."""
