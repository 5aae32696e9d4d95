"""People change nothing that is seen of a deployment."""
