"""Compiles untrusted documents in separate processes, which can be killed.

:class:`Pool` keeps several processes ready. A compilation has a deadline, a memory limit and an
output limit. If it exceeds one, the result is a diagnostic, and its process is replaced.
"""

from millrace_services.processes import Exceeded, Limits

from millrace_compiler.isolated.compilers import Pool

__all__ = ["Exceeded", "Limits", "Pool"]
