"""Management commands of the records app."""
