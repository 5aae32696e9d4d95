"""HTTP interface of the live app."""
