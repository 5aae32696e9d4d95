"""Monitors read what drivers report about themselves."""

from millrace_workers.monitors.reports import Pulse, Report, Reports

__all__ = ["Pulse", "Report", "Reports"]
