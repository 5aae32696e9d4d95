"""Spark's port on this machine."""

from __future__ import annotations

import socket
import struct

import pytest
from millrace_runtime.session.session import create

pytestmark = pytest.mark.spark

REQUEST, FAILURE = 3, 5  # types of Spark's messages


def test_sparks_port_answers_only_those_with_its_secret() -> None:
    session = create("ports", master="local[1]")
    try:
        port = int(session.sparkContext.getConf().get("spark.driver.port") or 0)
        body = b"anything that is deserialized"
        message = struct.pack(">bqi", REQUEST, 7, len(body)) + body
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(struct.pack(">q", len(message) + 8) + message)
            answer = connection.recv(4096)
    finally:
        session.stop()
    assert answer[8] == FAILURE
    assert b"Expected SaslMessage" in answer
