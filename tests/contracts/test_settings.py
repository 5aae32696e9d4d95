"""docs/settings.md has every setting that the code reads, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from millrace_backend.quota_table import QUOTAS

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("backend", "cli", "compiler", "launcher", "runtime", "workers")
NAME = re.compile(r"\bMILLRACE_[A-Z][A-Z_]*[A-Z]\b")
#: what one process of Millrace tells another, and what the image and the tests set
INTERNAL = {
    *("MILLRACE_ANALYZER", "MILLRACE_GENERATORS", "MILLRACE_SIMULATOR", "MILLRACE_STORE_READER"),
    *("MILLRACE_BROKER", "MILLRACE_LISTEN_FD", "MILLRACE_PAGE", "MILLRACE_PROBE"),
    *("MILLRACE_CALLED_FROM", "MILLRACE_CONFINED_TO", "MILLRACE_OPERATOR_JAR", "MILLRACE_RUNTIME"),
    *("MILLRACE_DEPLOYMENT", "MILLRACE_LOCK", "MILLRACE_REDIS_URL", "MILLRACE_SCRATCH"),
    *("MILLRACE_HOST", "MILLRACE_HOST_HOME", "MILLRACE_HOST_RUN", "MILLRACE_HOST_SOCKET"),
    *("MILLRACE_REPORT", "MILLRACE_PORT"),
    "MILLRACE_MAIL",  # a setting of Django
}


def names_in(text: str) -> set[str]:
    return set(NAME.findall(text))


def test_every_setting_is_on_the_page_of_settings() -> None:
    read: set[str] = set()
    for folder in FOLDERS:
        for path in (REPOSITORY / folder).rglob("*.py"):
            read |= names_in(path.read_text(encoding="utf-8"))
    read |= {quota.setting for quota in QUOTAS.values()}
    documented = names_in((REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8"))
    assert documented & INTERNAL == set()
    assert read - documented - INTERNAL == set()
    assert documented - read == set()
