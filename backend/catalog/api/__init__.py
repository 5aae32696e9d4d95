"""HTTP interface of the catalog app."""
