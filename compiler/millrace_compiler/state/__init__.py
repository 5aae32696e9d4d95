"""The state schema of a compiled document, and the comparison of two."""
