"""Compiling documents of people in processes of their own, which can be killed.

:class:`Pool` keeps some processes warm. A compilation has a deadline, a memory limit and an output
limit; what exceeds one is answered with a diagnostic, and its process is replaced.
"""

from millrace_compiler.isolated.pool import Limits, Pool

__all__ = ["Limits", "Pool"]
