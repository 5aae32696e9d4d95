"""The launcher of a local system: `./millrace up`, and the basis of all other commands."""
