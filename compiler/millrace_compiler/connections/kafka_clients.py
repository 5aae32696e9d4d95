"""Settings of Kafka clients from outside Millrace, such as security.

They contain secrets, so they come from a file or from environment variables, never from a command
line. Java's clients use them unchanged. librdkafka, which the backend and the workers use, has
other names for some of them (:func:`for_librdkafka`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

#: variable with the path of a file of `key=value` lines
FILE = "MILLRACE_KAFKA_CONFIG"
#: prefix of variables that contain one setting
PREFIX = "MILLRACE_KAFKA_"

#: settings that have the same name in librdkafka
_SAME = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.oauthbearer.token.endpoint.url",
    "ssl.key.password",
    "ssl.keystore.password",
    "ssl.cipher.suites",
    "client.dns.lookup",
)
#: options of login modules, by module
_LOGINS = {
    "PlainLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "ScramLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "OAuthBearerLoginModule": {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
}
_LOGIN = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*)", re.DOTALL)
_OPTION = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;]+))""")


def settings(environment: Mapping[str, str], file: str | None = None) -> dict[str, str]:
    """The settings under Java's names.

    They come from `file`, or else from the file that MILLRACE_KAFKA_CONFIG names; variables such as
    MILLRACE_KAFKA_security_protocol take precedence. Raises ValueError for a line that is not a
    setting, OSError for a file that cannot be read.
    """
    found: dict[str, str] = {}
    file = file or environment.get(FILE)
    if file:
        for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            key, sign, value = text.partition("=")
            if not sign:
                raise ValueError(f"{file}, line {number}: expected key=value, found {text!r}.")
            found[key.strip()] = value.strip()
    for name, value in environment.items():
        if name.startswith(PREFIX) and name != FILE:
            found[name[len(PREFIX) :].replace("_", ".").lower()] = value
    return found


def for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """The connection and security settings under librdkafka's names; others are omitted.

    Raises ValueError for what the installed librdkafka does not support: Kerberos, JKS stores.
    """
    found = {name: given[name] for name in _SAME if name in given}
    if (
        given.get("security.protocol", "").upper().startswith("SASL_")
        and given.get("sasl.mechanism", "GSSAPI") == "GSSAPI"
    ):
        raise ValueError(
            "sasl.mechanism is GSSAPI, which is the default. The page and the workers support "
            "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER."
        )
    if "sasl.jaas.config" in given:
        found |= _login(given["sasl.jaas.config"])
    if "ssl.endpoint.identification.algorithm" in given:
        algorithm = given["ssl.endpoint.identification.algorithm"]
        found["ssl.endpoint.identification.algorithm"] = algorithm or "none"
    return found | _trusted(given) | _own(given)


def _login(text: str) -> dict[str, str]:
    """librdkafka's settings for a sasl.jaas.config; errors never contain its text."""
    match = _LOGIN.fullmatch(text)
    module = match[1].rpartition(".")[2] if match else ""
    if match is None or module not in _LOGINS:
        raise ValueError(
            'sasl.jaas.config must be `MODULE required NAME="VALUE" …;` with one of the modules '
            f"{', '.join(_LOGINS)}."
        )
    options = {
        name: re.sub(r"\\(.)", r"\1", double or single) or plain
        for name, double, single, plain in _OPTION.findall(match[2])
    }
    found = {ours: options[theirs] for theirs, ours in _LOGINS[module].items() if theirs in options}
    if module == "OAuthBearerLoginModule":
        found["sasl.oauthbearer.method"] = "oidc"
    return found


def _trusted(given: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings for the certificates of authorities."""
    found = {}
    if "ssl.truststore.location" in given:
        _require_type(given, "ssl.truststore", "PEM")
        found["ssl.ca.location"] = given["ssl.truststore.location"]
    if "ssl.truststore.certificates" in given:
        found["ssl.ca.pem"] = given["ssl.truststore.certificates"]
    return found


def _own(given: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings for the client's own certificate and key."""
    found = {}
    if "ssl.keystore.location" in given:
        place = given["ssl.keystore.location"]
        if _require_type(given, "ssl.keystore", "PEM", "PKCS12") == "PEM":
            found = {"ssl.certificate.location": place, "ssl.key.location": place}
        else:
            found = {"ssl.keystore.location": place}
    if "ssl.keystore.certificate.chain" in given:
        found["ssl.certificate.pem"] = given["ssl.keystore.certificate.chain"]
    if "ssl.keystore.key" in given:
        found["ssl.key.pem"] = given["ssl.keystore.key"]
    return found


def _require_type(given: Mapping[str, str], store: str, *types: str) -> str:
    found = given.get(f"{store}.type", "JKS").upper()
    if found not in types:
        raise ValueError(
            f"{store}.type is {found}. The page and the workers read {' and '.join(types)} only: "
            f"convert the store and set {store}.type."
        )
    return found
