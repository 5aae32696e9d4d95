"""Rules for the lines of the log: no tokens, and no stack trace for a request that is refused."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from structlog.typing import EventDict, WrappedLogger

#: one-time sign-in links, of which addresses of pages and requests contain the token; API tokens
_TOKENS = re.compile(r"(?<=/sign-in/)[^/\s\"'?#]+|\bmr_\w+")
#: loggers of requests that Django refuses before they reach a view
_REFUSED = "django.security"


def mask(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace tokens in all texts of a line, as a processor of structlog."""
    return {name: _masked(value) for name, value in event.items()}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return _TOKENS.sub("…", value)
    if isinstance(value, Mapping):
        return {_masked(name): _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return value


def without_trace(record: logging.LogRecord) -> bool:
    """Remove the stack trace of a refused request: its message names the cause."""
    if record.name.startswith(_REFUSED):
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True
