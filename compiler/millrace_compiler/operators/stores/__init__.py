"""Named state of operators."""
