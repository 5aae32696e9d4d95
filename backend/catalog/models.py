"""The catalog app stores nothing in the database."""
