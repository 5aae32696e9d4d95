"""HTTP interface of the accounts app."""
