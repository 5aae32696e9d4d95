"""Documents read with the operators' declarations: the graph, and facts that need no types."""
