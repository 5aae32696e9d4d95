"""The catalog app keeps nothing in the database."""
