"""The Spark session, the Java that runs it, and exceptions that come from it."""
