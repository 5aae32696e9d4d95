"""The catalog app."""

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """Configuration of the catalog app."""

    name = "catalog"
