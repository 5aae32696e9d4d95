"""The fixture of the wheel's pytest plugin, which is not installed here."""

from millrace_runtime.testing.plugin import topology_test_driver

__all__ = ["topology_test_driver"]
