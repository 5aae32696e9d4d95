"""The environment variables that a worker passes on to its drivers.

Drivers execute code of documents, so nothing that gives access to the backend is passed on: neither
DATABASE_URL nor REDIS_URL, nor anything that is not listed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: variable with more names, separated by commas, that an installation passes on
MORE = "MILLRACE_DRIVER_ENVIRONMENT"
ALLOWED = frozenset(
    [
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONHASHSEED"),
        *("JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "HADOOP_CONF_DIR"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("MILLRACE_CACHE", "MILLRACE_JARS", "MILLRACE_JAR_MIRROR", "MILLRACE_OPERATOR_JAR"),
        *("MILLRACE_PROCESSOR_TIMEOUT_MS", "MILLRACE_PROCESSOR_MEMORY_MB"),
        *("MILLRACE_STORE_MEMORY_MB", "MILLRACE_SLEEP_SECONDS", "MILLRACE_STREAM_THREADS"),
        *("MILLRACE_REGISTRY_PASSWORDS", "MILLRACE_SCHEMA_REGISTRIES", "MILLRACE_READERS"),
        "MILLRACE_DEBUG",
    ]
)
#: for drivers whose checkpoint is in S3: its address and credentials
S3 = frozenset(
    [
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        *("AWS_ENDPOINT_URL", "AWS_REGION"),
    ]
)
#: prefixes of names: locale, Spark, and the settings of Kafka clients
PREFIXES = ("LC_", "SPARK_", "PYSPARK_", "MILLRACE_KAFKA_")


def of_driver(environment: Mapping[str, str], arguments: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a driver gets from its worker's environment.

    `arguments`: the driver's options. Unset lists of schema registries and of readers are passed on
    empty, so that a driver of the server may use none.
    """
    more = {name.strip() for name in environment.get(MORE, "").split(",")}
    if any(each.startswith("s3a://") for each in arguments):
        more |= S3
    return {"MILLRACE_SCHEMA_REGISTRIES": "", "MILLRACE_READERS": ""} | {
        name: value
        for name, value in environment.items()
        if name in ALLOWED or name in more or name.startswith(PREFIXES)
    }
