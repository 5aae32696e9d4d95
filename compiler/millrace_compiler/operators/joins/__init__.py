"""Operators that join two inputs."""
