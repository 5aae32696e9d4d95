"""Python functions in the place of Spark SQL expressions: translated exactly, or run in Python."""
