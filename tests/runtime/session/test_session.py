"""Settings of Spark sessions."""

from __future__ import annotations

import pytest
from millrace_runtime.session.session import collector


@pytest.mark.parametrize(
    ("heap", "options", "serial"),
    [
        ("1g", (), True),
        ("512M", (), True),
        ("2048m", (), True),
        ("3g", (), False),
        ("1024", (), False),
        ("1g", ("-Xss8m", "-XX:+UseZGC"), False),
    ],
)
def test_small_heaps_have_the_serial_collector(
    heap: str, options: tuple[str, ...], serial: bool
) -> None:
    assert collector(heap, options) == (("-XX:+UseSerialGC",) if serial else ())
