"""The live app."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    """Configuration of the live app; loads the project's own checks."""

    name = "live"

    def ready(self) -> None:
        """Register the system checks."""
        from millrace_backend import checks  # noqa: F401
