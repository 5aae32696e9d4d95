"""Programs of the plain dialect: simulated and compared with the exact one, or deployed."""
