"""The certificates that this machine trusts, for Java and Node, which include their own lists.

Behind a company's proxy, the machine trusts an authority that no packaged list contains.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from launcher import places

if TYPE_CHECKING:
    from cryptography import x509

#: a truststore contains no secrets, but Java requires a password
PASSWORD = "changeit"


def bundle() -> Path | None:
    """The machine's file of trusted certificates: SSL_CERT_FILE, else Python's default."""
    found = ssl.get_default_verify_paths().cafile
    return Path(found) if found and Path(found).is_file() else None


def java_options() -> list[str]:
    """Return options that make a Java trust what the machine trusts; none if that is unknown."""
    source = bundle()
    if source is None:
        return []
    try:
        content = source.read_bytes()
        store = places.cache() / f"trust-{hashlib.sha256(content).hexdigest()[:16]}.p12"
        if not store.exists():
            store.parent.mkdir(parents=True, exist_ok=True)
            aside = store.with_name(f"{store.name}.{os.getpid()}")
            aside.write_bytes(_truststore(content))
            aside.replace(store)
    except (OSError, ValueError):
        # Java's own list is sufficient on most machines.
        return []
    return [
        f"-Djavax.net.ssl.trustStore={store}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
    ]


def environment() -> dict[str, str]:
    """Return settings that make Node use the machine's certificates, unless they are set."""
    source = bundle()
    if source is None or os.environ.get("NODE_EXTRA_CA_CERTS"):
        return {}
    return {"NODE_EXTRA_CA_CERTS": str(source)}


def _truststore(pem: bytes) -> bytes:
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    certificates = [
        pkcs12.PKCS12Certificate(certificate, f"authority-{number}".encode())
        for number, certificate in enumerate(_certificates(pem))
    ]
    return pkcs12.serialize_java_truststore(
        certificates, BestAvailableEncryption(PASSWORD.encode())
    )


def _certificates(pem: bytes) -> list[x509.Certificate]:
    """Return the certificates that can be read; some old ones violate current rules."""
    from cryptography import x509
    from cryptography.utils import CryptographyDeprecationWarning

    found = []
    end = b"-----END CERTIFICATE-----"
    for block in pem.split(end):
        start = block.find(b"-----BEGIN CERTIFICATE-----")
        if start >= 0:
            with suppress(ValueError), warnings.catch_warnings():
                warnings.simplefilter("ignore", CryptographyDeprecationWarning)
                found.append(x509.load_pem_x509_certificate(block[start:] + end + b"\n"))
    return found
