from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from checks import audit
from launcher import packages
from launcher.console import Problem
from launcher.packages import Package


class Osv(ThreadingHTTPServer):
    """OSV's protocol with one advisory for django, on the second page of its results."""

    broken = b""

    class Handler(BaseHTTPRequestHandler):
        server: Osv

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            queries = json.loads(self.rfile.read(length))["queries"]
            self.answer({"results": [self.result(each) for each in queries]})

        def do_GET(self) -> None:
            assert self.path == "/v1/vulns/GHSA-1"
            ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}]
            affected = {"package": {"name": "Django"}, "ranges": ranges}
            other = {"package": {"name": "other"}, "ranges": [{"events": [{"fixed": "1"}]}]}
            self.answer({"id": "GHSA-1", "summary": "Reads\nfiles.", "affected": [affected, other]})

        def result(self, query: dict[str, object]) -> dict[str, object]:
            package = query["package"]
            assert isinstance(package, dict)
            if not package["purl"].startswith("pkg:pypi/django@"):
                return {}
            if "page_token" in query:
                return {"vulns": [{"id": "GHSA-1"}]}
            return {"next_page_token": "2"}

        def answer(self, content: object) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.server.broken or json.dumps(content).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass


@pytest.fixture
def osv(monkeypatch: pytest.MonkeyPatch) -> Iterator[Osv]:
    server = Osv(("127.0.0.1", 0), Osv.Handler)
    monkeypatch.setenv("MILLRACE_OSV", f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_vulnerable_package_fails_the_audit_with_its_fix(
    osv: Osv, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(["audit"]) == 1
    shown = capsys.readouterr().err
    assert "(PyPI): GHSA-1, fixed in 99.1. Reads files." in shown
    assert f"{len(packages.locked())} packages, 1 advisories, 0 accepted" in shown


def test_an_accepted_advisory_passes_until_its_date(
    osv: Osv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = '[[accepted]]\nid = "GHSA-1"\nreason = "not used"\nuntil = {}\n'
    for until, code in (("2100-01-01", 0), ("2020-01-01", 1)):
        file = tmp_path / "advisories.toml"
        file.write_text(entry.format(until))
        monkeypatch.setattr(audit, "ACCEPTED", file)
        assert audit.main(["audit"]) == code


def test_an_acceptance_without_a_reason_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "advisories.toml"
    file.write_text('[[accepted]]\nid = "GHSA-1"\nuntil = 2100-01-01\n')
    with pytest.raises(Problem, match="GHSA-1 has no reason"):
        audit.read_accepted(file, date(2026, 1, 1))


@pytest.mark.parametrize("broken", [b"<html>", b"[]", b'{"results": []}'])
def test_an_answer_that_is_none_is_no_clean_audit(osv: Osv, broken: bytes) -> None:
    osv.broken = broken
    with pytest.raises(audit.Unreachable):
        audit.main(["audit"])


def test_without_network_only_if_reachable_succeeds(
    osv: Osv, capsys: pytest.CaptureFixture[str]
) -> None:
    osv.shutdown()
    osv.server_close()
    with pytest.raises(audit.Unreachable, match="cannot be read"):
        audit.main(["audit"])
    assert audit.main(["audit", "--if-reachable"]) == 0
    assert "audit: not done." in capsys.readouterr().err


def test_a_file_address_of_advisories_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_OSV", "file:///etc")
    with pytest.raises(Problem, match="http or https"):
        audit.main(["audit", "--if-reachable"])


def test_packages_of_all_three_lock_files_have_urls() -> None:
    found = {package.purl for package in packages.locked()}
    assert {url.partition("@")[0] for url in found} >= {
        "pkg:pypi/pyspark",
        "pkg:npm/react",
        "pkg:npm/%40xyflow/react",
        "pkg:maven/org.apache.kafka/kafka-clients",
    }
    assert Package("npm", "@xyflow/react", "1").purl == "pkg:npm/%40xyflow/react@1"
