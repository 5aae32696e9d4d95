"""The monitoring app."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    """Configuration of the monitoring app."""

    name = "monitoring"
