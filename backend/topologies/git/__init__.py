"""A workspace in a git repository: versions become commits, and changes from outside versions."""
