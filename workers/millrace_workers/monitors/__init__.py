"""Monitors read what drivers report about themselves."""

from millrace_workers.monitors.reports import Pulse, Reports, StateReport

__all__ = ["Pulse", "Reports", "StateReport"]
