"""Settings from environment variables, read once, each with a default."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from millrace_compiler.connections import kafka_clients

from millrace_backend.addresses import Network

REPOSITORY = Path(__file__).resolve().parents[2]
SECRET_BYTES = 50
MOST_DAYS = 36_500
#: how long a thread keeps its connection to the database
CONNECTION_SECONDS = 60


@dataclass(frozen=True)
class Environment:
    """The settings that differ from machine to machine."""

    data: Path
    #: the key that signs sessions
    secret_file: Path
    database_url: str | None
    redis_url: str
    kafka: str
    #: settings of the backend's Kafka clients, under librdkafka's names
    kafka_clients: dict[str, str]
    analyzer: str | None
    simulator: str | None
    store_reader: str | None
    #: socket of the process that writes generated records, if a connection starts it
    generators: str | None
    public_url: str
    debug: bool
    hosts: tuple[str, ...]
    #: networks of proxies whose X-Forwarded-For is trusted
    proxies: tuple[Network, ...]
    #: private networks that webhooks of alerts may reach
    webhook_networks: tuple[Network, ...]
    #: smtp://, smtps:// or smtp+starttls://, with user and password if the server wants them
    smtp_url: str | None
    #: sender of mails
    mail_from: str
    #: folders and URLs below which workspaces may use git repositories
    git_roots: tuple[str, ...]
    #: `user:password` of repositories, by the beginning of their URL
    git_passwords: dict[str, str]
    #: days for which used links and expired tokens are kept
    access_days: int
    #: days for which audit entries are kept
    audit_days: int
    #: days for which the state that a deployment left when it was moved or reset is kept; None:
    #: until a person deletes it
    old_state_days: int | None
    #: memory in MB that stays free when a driver is started beside another
    spare_memory_mb: int
    #: URL of the Spark cluster that drivers use; empty: this machine
    spark_master: str
    page: Path
    #: the compiled operator that exports contain; without it, they contain its sources
    operator_jar: Path | None


def read(environ: Mapping[str, str] = os.environ) -> Environment:
    """Read the environment variables. Raises ImproperlyConfigured for invalid ones."""
    data = Path(environ.get("MILLRACE_DATA") or REPOSITORY / ".millrace").absolute()
    return Environment(
        data=data,
        secret_file=Path(environ.get("MILLRACE_SECRET_FILE") or data / "secret.key"),
        database_url=environ.get("DATABASE_URL") or None,
        redis_url=environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0",
        kafka=environ.get("KAFKA_BOOTSTRAP_SERVERS") or "127.0.0.1:9092",
        kafka_clients=_kafka_clients(environ),
        analyzer=environ.get("MILLRACE_ANALYZER") or None,
        simulator=environ.get("MILLRACE_SIMULATOR") or None,
        store_reader=environ.get("MILLRACE_STORE_READER") or None,
        generators=environ.get("MILLRACE_GENERATORS") or None,
        public_url=(environ.get("MILLRACE_PUBLIC_URL") or "http://127.0.0.1:8000").rstrip("/"),
        debug=environ.get("MILLRACE_DEBUG", "").lower() in {"1", "true", "yes"},
        hosts=tuple(_listed(environ.get("MILLRACE_HOSTS", ""))),
        proxies=_networks(environ.get("MILLRACE_PROXIES"), "MILLRACE_PROXIES"),
        webhook_networks=_networks(
            environ.get("MILLRACE_WEBHOOK_NETWORKS"), "MILLRACE_WEBHOOK_NETWORKS"
        ),
        smtp_url=environ.get("MILLRACE_SMTP_URL") or None,
        mail_from=environ.get("MILLRACE_MAIL_FROM") or "millrace@localhost",
        git_roots=_git_roots(environ),
        git_passwords=_git_passwords(environ),
        access_days=_days(environ, "MILLRACE_ACCESS_DAYS", 30),
        audit_days=_days(environ, "MILLRACE_AUDIT_DAYS", 365),
        old_state_days=(
            _days(environ, "MILLRACE_OLD_STATE_DAYS", 1)
            if environ.get("MILLRACE_OLD_STATE_DAYS")
            else None
        ),
        spark_master=environ.get("SPARK_MASTER", ""),
        spare_memory_mb=_megabytes(environ, "MILLRACE_SPARE_MEMORY_MB"),
        page=Path(environ.get("MILLRACE_PAGE") or REPOSITORY / "frontend" / "dist"),
        operator_jar=Path(jar) if (jar := environ.get("MILLRACE_OPERATOR_JAR")) else None,
    )


def _days(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MOST_DAYS:
        raise ImproperlyConfigured(
            f"{name} is {text!r}, not a number of days from 1 to {MOST_DAYS}."
        )
    return int(text)


def _megabytes(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name) or "0"
    if not text.isascii() or not text.isdigit():
        raise ImproperlyConfigured(f"{name} is {text!r}, not a number of megabytes.")
    return int(text)


def _git_roots(environ: Mapping[str, str]) -> tuple[str, ...]:
    found = tuple(_listed(environ.get("MILLRACE_GIT_ROOTS", "")))
    for root in found:
        if not root.startswith("/") and not _is_plain_url(root):
            raise ImproperlyConfigured(
                f"MILLRACE_GIT_ROOTS has {root!r}, which is neither an absolute path nor an "
                "https:// URL without user, password and query."
            )
    return found


def _git_passwords(environ: Mapping[str, str]) -> dict[str, str]:
    try:
        found = json.loads(environ.get("MILLRACE_GIT_PASSWORDS") or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(
        _is_plain_url(url) and isinstance(password, str) and ":" in password
        for url, password in found.items()
    ):
        # The value is not shown: it has passwords.
        raise ImproperlyConfigured(
            "MILLRACE_GIT_PASSWORDS is not a JSON object with the user:password of each URL, such "
            'as {"https://git.example.com/team": "millrace:secret"}.'
        )
    return found


def _is_plain_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and plain and port != 0


def _kafka_clients(environ: Mapping[str, str]) -> dict[str, str]:
    try:
        return kafka_clients.for_librdkafka(kafka_clients.settings(environ))
    except (ValueError, OSError) as error:
        raise ImproperlyConfigured(f"The settings of Kafka clients: {error}") from None


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _networks(listed: str | None, name: str) -> tuple[Network, ...]:
    found = []
    for text in _listed(listed or ""):
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{name} has {text!r}, which is not an address or a network ({error}). "
                "Use addresses such as 10.0.0.5 or 172.18.0.0/16."
            ) from error
    return tuple(found)


@dataclass(frozen=True)
class MailServer:
    """The mail server. `scheme`: smtp, smtps or smtp+starttls."""

    scheme: str
    host: str
    port: int
    user: str
    password: str


def mail_server(text: str) -> MailServer:
    """Parse MILLRACE_SMTP_URL. Raises ImproperlyConfigured if it is invalid."""
    ports = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
    try:
        url = urlsplit(text)
        port = url.port or ports.get(url.scheme, 0)
    except ValueError as error:
        raise ImproperlyConfigured(f"MILLRACE_SMTP_URL is not a URL: {error}.") from error
    if url.scheme not in ports or not url.hostname:
        raise ImproperlyConfigured(
            "MILLRACE_SMTP_URL must be smtp://, smtps:// or smtp+starttls://, then "
            "USER:PASSWORD@ if the server requires them, and HOST:PORT."
        )
    user, password = unquote(url.username or ""), unquote(url.password or "")
    return MailServer(url.scheme, url.hostname, port, user, password)


def allowed_hosts(environment: Environment) -> list[str]:
    """Return the host names that requests may use for this server."""
    public = urlsplit(environment.public_url).hostname
    return ["127.0.0.1", "localhost", "[::1]", *([public] if public else []), *environment.hosts]


def secret_key(path: Path) -> str:
    """Return the secret key, creating its file at the first start, readable only by its owner.

    Raises ImproperlyConfigured if the file cannot be read or created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = secrets.token_urlsafe(SECRET_BYTES)
        # A temporary file is linked into place, so that another process never sees half a key.
        aside = path.with_name(f"{path.name}.{os.getpid()}")
        if not path.exists():
            with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                out.write(fresh)
            try:
                os.link(aside, path)
            except FileExistsError:
                # Another process created the file first, and its key is used.
                fresh = ""
            finally:
                aside.unlink()
        key = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key file {path} cannot be read or created ({error.strerror}). "
            "Set MILLRACE_DATA to a folder that this user can write to."
        ) from error
    if len(key) < SECRET_BYTES:
        raise ImproperlyConfigured(
            f"The secret key file {path} has {len(key)} characters; at least {SECRET_BYTES} are "
            "required. Delete the file to create a new key; everybody must then sign in again."
        )
    return key


def database(environment: Environment) -> dict[str, Any]:
    """Return Django's database settings: SQLite in the data folder, or the one in DATABASE_URL."""
    if environment.database_url is None:
        return sqlite(environment.data / "db.sqlite3")
    url = urlsplit(environment.database_url)
    if url.scheme == "sqlite":
        return sqlite(Path(unquote(url.path)))
    if url.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"DATABASE_URL begins with {url.scheme!r}, not with postgresql:// or sqlite:///."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.lstrip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
        "OPTIONS": dict(parse_qsl(url.query)),
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "CONN_HEALTH_CHECKS": True,
    }


def sqlite(path: Path) -> dict[str, object]:
    """Return settings for SQLite with several writing processes.

    WAL mode, a timeout for locks, and immediate transactions, which never upgrade a read lock.
    """
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # Tests use a file as well, because a database in memory locks differently.
        "TEST": {"NAME": str(path.with_name(f"test-{os.getpid()}.sqlite3"))},
    }
