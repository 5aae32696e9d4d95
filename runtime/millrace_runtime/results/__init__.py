"""Input lines and results of simulations, and how results are compared."""
