"""Code of a program's processors and functions: its text, its modules, and its places in files."""
