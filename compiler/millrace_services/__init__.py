"""Processes that answer requests: pools of them, and services on Unix sockets.

:mod:`pool` gives requests of many owners their turn, :mod:`processes` asks one process and ends it,
:mod:`frames` is what both sides write. :mod:`line_server` is a service, :mod:`local_services` its
clients. Nothing here knows what is asked.
"""
