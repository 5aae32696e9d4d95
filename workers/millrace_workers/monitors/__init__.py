"""Monitors read what drivers report about themselves."""

from millrace_workers.monitors.reports import Report, Reports

__all__ = ["Report", "Reports"]
