"""The operators, one file for each kind, in a folder for each family."""
