"""System checks of an installation, run by ``manage.py check`` and at every start."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from millrace_backend.environment import REPOSITORY


@register("millrace")
def check_data_folder(**_: Any) -> list[CheckMessage]:
    """Check that the data folder is writable and that only its owner can read the key."""
    folder = Path(settings.MILLRACE_DATA)
    if not os.access(folder, os.W_OK | os.X_OK):
        return [
            Error(
                f"The data folder {folder} is not writable.",
                hint="Change its owner, or set MILLRACE_DATA to another folder.",
                id="millrace.E001",
            )
        ]
    key = settings.ENVIRONMENT.secret_file
    if key.exists() and key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return [
            checks.Warning(
                f"Others on this machine can read the secret key file {key}.",
                hint=f"chmod 600 {key}",
                id="millrace.W001",
            )
        ]
    return []


@register("millrace")
def check_addresses(**_: Any) -> list[CheckMessage]:
    """Check the form of the addresses in the environment."""
    found: list[CheckMessage] = []
    if urlsplit(settings.REDIS_URL).scheme not in {"redis", "rediss", "unix"}:
        found.append(
            Error(
                "REDIS_URL does not begin with redis://, rediss:// or unix://.",
                hint="For example redis://:password@127.0.0.1:6379/0",
                id="millrace.E002",
            )
        )
    if urlsplit(settings.MILLRACE_PUBLIC_URL).scheme not in {"http", "https"}:
        found.append(
            Error(
                f"MILLRACE_PUBLIC_URL is {settings.MILLRACE_PUBLIC_URL!r}.",
                hint="Set the address that people open in their browsers, such as "
                "http://127.0.0.1:8000",
                id="millrace.E003",
            )
        )
    for name, number in (
        ("MILLRACE_ANALYZER", 4),
        ("MILLRACE_SIMULATOR", 5),
        ("MILLRACE_STORE_READER", 5),
    ):
        path = getattr(settings, name)
        if path and not Path(path).is_absolute():
            found.append(
                Error(
                    f"{name} is {path!r}, not the absolute path of a Unix socket.",
                    hint="For example /run/millrace/analyzer",
                    id=f"millrace.E00{number}",
                )
            )
    return found


@register("millrace", deploy=True)
def check_page(**_: Any) -> list[CheckMessage]:
    """Check that the page is built."""
    if (Path(settings.MILLRACE_PAGE) / "index.html").exists():
        return []
    return [
        checks.Warning(
            "The page is not built.",
            hint=f"npm run build in {REPOSITORY / 'frontend'}",
            id="millrace.W002",
        )
    ]
