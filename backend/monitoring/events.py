"""Pages ask for figures; nothing is sent to them."""
