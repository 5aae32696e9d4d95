"""The records app."""

from django.apps import AppConfig


class RecordsConfig(AppConfig):
    """Configuration of the records app."""

    name = "records"
