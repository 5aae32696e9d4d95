"""A job: the streaming query of a topology, its sources, its sinks and their settings."""
