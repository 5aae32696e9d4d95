"""The topologies app."""

from django.apps import AppConfig


class TopologiesConfig(AppConfig):
    """Configuration of the topologies app."""

    name = "topologies"
