"""The API of the records app."""
