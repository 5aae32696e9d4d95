"""Parameters of operators and settings: how each is declared, read and checked."""
