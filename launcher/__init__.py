"""The machine of one's own: what ``./millrace up`` starts, and what every command needs."""
