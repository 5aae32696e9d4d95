"""Java trusts the authorities that the machine trusts."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import pkcs12

from launcher import trust


# Some of the oldest authorities have serial numbers that would no longer be valid.
@pytest.mark.filterwarnings("ignore:Parsed a serial number")
def test_the_machines_authorities_become_a_truststore_for_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = trust.bundle()
    if source is None:
        pytest.skip("this machine has no file of trusted certificates")
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path))
    (option, kind, _) = trust.java_options()
    store = Path(option.partition("=")[2])
    assert store.parent == tmp_path
    assert kind.endswith("PKCS12")
    loaded = pkcs12.load_pkcs12(store.read_bytes(), trust.PASSWORD.encode())
    assert len(loaded.additional_certs) > 10


def test_a_machine_without_such_a_file_leaves_java_its_own_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trust, "bundle", lambda: None)
    assert trust.java_options() == []
    assert trust.environment() == {}
