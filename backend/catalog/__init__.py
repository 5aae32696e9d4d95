"""The catalog of operators, and templates to begin with."""
