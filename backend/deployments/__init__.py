"""Deployments: what should run, what is seen to run, and every run of it."""
