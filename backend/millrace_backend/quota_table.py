"""How much a workspace or a person can store: the table of quotas.

Quotas are generous. They keep one member from filling the disk or the cluster for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True)
class Quota:
    """A quota. ``most`` is a number of things, or of megabytes if the name ends with ``_mb``."""

    name: str
    most: int
    #: whose things are counted: workspace, topology or account
    owner: str
    #: what is counted, in the plural
    things: str

    @property
    def setting(self) -> str:
        """The environment variable that changes it."""
        return f"MILLRACE_QUOTA_{self.name.upper()}"


QUOTAS = {
    quota.name: quota
    for quota in (
        Quota("topologies", 1_000, "workspace", "topologies"),
        Quota("versions", 5_000, "topology", "versions"),
        Quota("versions_mb", 2_000, "workspace", "MB of versions"),
        Quota("drafts", 200, "account", "drafts in this workspace"),
        Quota("drafts_mb", 500, "workspace", "MB of drafts"),
        Quota("comments", 2_000, "topology", "comments"),
        Quota("tests", 200, "topology", "tests"),
        Quota("tests_mb", 50, "topology", "MB of tests"),
        Quota("deployments", 200, "workspace", "deployments"),
        Quota("alert_rules", 200, "workspace", "alert rules"),
        Quota("generators", 10, "workspace", "running generators"),
        Quota("topics", 500, "workspace", "topics created by Millrace"),
        Quota("partitions", 5_000, "workspace", "partitions of topics created by Millrace"),
        Quota("members", 1_000, "workspace", "members"),
        Quota("accounts", 2_000, "workspace", "accounts that it created"),
        Quota("tokens", 100, "account", "API tokens"),
    )
}


def read(environ: Mapping[str, str]) -> dict[str, int]:
    """Read the quotas from the environment. Raises ImproperlyConfigured for an invalid one."""
    found = {}
    for quota in QUOTAS.values():
        text = environ.get(quota.setting) or str(quota.most)
        if not text.isascii() or not text.isdigit() or int(text) > 10**9:
            raise ImproperlyConfigured(f"{quota.setting} is {text!r}, not a number up to 10^9.")
        found[quota.name] = int(text)
    return found
