"""Infers the types of ports, with an analyzer for expressions and the schemas of registries."""
