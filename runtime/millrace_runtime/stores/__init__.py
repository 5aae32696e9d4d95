"""Stores in a checkpoint: read for queries, and moved when levels, tasks or sources change."""
