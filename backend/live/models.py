"""The live app keeps nothing in the database."""
