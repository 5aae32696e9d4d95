"""Records of topics: read, decoded, written."""
