"""The analyzer: types of expressions, by a warm Spark session, and the compiler that asks it."""
