"""Records of topics: reading, decoding, writing and generating them."""
