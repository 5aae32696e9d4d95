"""Local services: servers on a Unix socket, and processes confined to their own files."""
