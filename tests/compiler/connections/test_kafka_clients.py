"""External settings of Kafka clients, and their translation from Java's to librdkafka's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from millrace_compiler.connections.kafka_clients import for_librdkafka, settings

SCRAM = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required\n"
    ' username="a b" password="x=\\"y;\\\\";'
)
OAUTH = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    "clientId='me' clientSecret=s scope=\"kafka\";"
)


def test_variables_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nssl.key.password = p=q\n")
    given = {"MILLRACE_KAFKA_CONFIG": str(file), "MILLRACE_KAFKA_security_protocol": "SASL_SSL"}
    assert settings(given) == {"security.protocol": "SASL_SSL", "ssl.key.password": "p=q"}
    assert settings({"HOME": "/"}) == {}
    with pytest.raises(FileNotFoundError):
        settings({"MILLRACE_KAFKA_CONFIG": str(tmp_path / "absent")})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"max.poll.records": "5", "acks": "all"}, {}),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.jaas.config": SCRAM,
            },
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "a b",
                "sasl.password": 'x="y;\\',
            },
        ),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": "https://login.example.com/token",
                "sasl.jaas.config": OAUTH,
            },
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": "https://login.example.com/token",
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "me",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.scope": "kafka",
            },
        ),
        (
            {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": "/ca.pem",
                "ssl.keystore.type": "pem",
                "ssl.keystore.location": "/me.pem",
                "ssl.key.password": "p",
                "ssl.endpoint.identification.algorithm": "",
            },
            {
                "ssl.ca.location": "/ca.pem",
                "ssl.certificate.location": "/me.pem",
                "ssl.key.location": "/me.pem",
                "ssl.key.password": "p",
                "ssl.endpoint.identification.algorithm": "none",
            },
        ),
        (
            {
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": "/me.p12",
                "ssl.keystore.password": "p",
                "ssl.truststore.certificates": "CA",
            },
            {
                "ssl.keystore.location": "/me.p12",
                "ssl.keystore.password": "p",
                "ssl.ca.pem": "CA",
            },
        ),
        (
            {"ssl.keystore.certificate.chain": "C", "ssl.keystore.key": "K"},
            {"ssl.certificate.pem": "C", "ssl.key.pem": "K"},
        ),
    ],
)
def test_settings_of_connection_and_security_have_the_names_of_librdkafka(
    given: dict[str, str], found: dict[str, str]
) -> None:
    assert for_librdkafka(given) == found


def test_librdkafka_accepts_what_is_made_of_a_login() -> None:
    for text, mechanism in ((SCRAM, "SCRAM-SHA-256"), (OAUTH, "OAUTHBEARER")):
        found = for_librdkafka(
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": mechanism,
                "sasl.jaas.config": text,
                "sasl.oauthbearer.token.endpoint.url": "https://localhost:1/token",
                "ssl.endpoint.identification.algorithm": "",
            }
        )
        Producer({**found, "log_level": 0})  # librdkafka refuses settings that it does not know
        with pytest.raises(KafkaException):
            Producer({**found, "sasl.mechanism": "UNKNOWN"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ssl.truststore.location": "/ca.jks"}, "ssl.truststore.type is JKS"),
        (
            {"ssl.truststore.location": "/ca", "ssl.truststore.type": "pkcs12"},
            "ssl.truststore.type is PKCS12. The page and the workers read PEM only",
        ),
        ({"ssl.keystore.location": "/me.jks"}, "read PEM and PKCS12 only"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism is GSSAPI"),
        (
            {"sasl.jaas.config": 'my.Module required password="hidden";'},
            "one of the modules PlainLoginModule, ScramLoginModule, OAuthBearerLoginModule",
        ),
        ({"sasl.jaas.config": "hidden"}, "sasl.jaas.config must be"),
    ],
)
def test_what_librdkafka_cannot_do_is_refused_without_secrets(
    given: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        for_librdkafka(given)
    assert "hidden" not in str(refused.value)
