"""HTTP interface of the topologies app."""
