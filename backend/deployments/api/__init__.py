"""HTTP interface of the deployments app."""
