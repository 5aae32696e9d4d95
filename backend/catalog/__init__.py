"""The catalogue of operators, and templates to begin with."""
