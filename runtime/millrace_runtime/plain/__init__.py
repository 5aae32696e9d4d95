"""Programs of the plain dialect beside the exact one: run on files and compared, or driven."""
