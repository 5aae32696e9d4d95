"""The deployments app."""

from django.apps import AppConfig


class DeploymentsConfig(AppConfig):
    """Configuration of the deployments app."""

    name = "deployments"
