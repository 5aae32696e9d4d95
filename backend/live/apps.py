"""The live app."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    """Configuration of the live app."""

    name = "live"
