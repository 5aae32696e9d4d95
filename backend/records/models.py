"""The records app keeps nothing in the database."""
