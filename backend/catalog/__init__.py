"""The catalog of operators, and templates to start from."""
