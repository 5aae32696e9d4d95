"""Versions as commits of a real git repository, and changes of other people in it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from accounts.models import AuditEntry
from django.core.exceptions import ImproperlyConfigured
from millrace_backend import environment
from millrace_compiler import RecordedAnalyzer
from topologies import actions, testing
from topologies.git import syncing
from topologies.git.content import folder_name
from topologies.git.mirror import Mirror
from topologies.git.places import problem_of_url
from topologies.models import Repository, RepositoryFolder, Topology

from tests.served import serving_analyzer

from .conftest import Client, People, document
from .test_compile import RECORDED

PATH = "/api/workspaces/main/repository"


def git(folder: Path, *arguments: str) -> str:
    """Run git as a person does, without the configuration of this machine."""
    done = subprocess.run(
        ["git", "-c", "user.name=Grace", "-c", "user.email=grace@example.com", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


class Bench:
    """A workspace bound to a bare repository, and a clone of somebody else."""

    def __init__(self, folder: Path, people: People, client_of: Client) -> None:
        self.folder, self.people = folder, people
        self.bare, self.clone = folder / "orders.git", folder / "clone"
        self.bare.mkdir(parents=True)
        git(self.bare, "init", "--quiet", "--bare", "--initial-branch=main")
        self.admin: Any = client_of(people.admin)
        self.editor: Any = client_of(people.editor)

    def bind(self, **more: Any) -> Any:
        return self.admin.put(PATH, {"url": str(self.bare), **more})

    def sync(self) -> Any:
        """Work as a worker does when it is due, and return the state."""
        for repository in syncing.due():
            syncing.sync(repository)
        return self.state()

    def state(self) -> Any:
        return self.editor.get(PATH).json()["repository"]

    def show(self, path: str, branch: str = "main") -> str:
        return git(self.bare, "show", f"{branch}:{path}")

    def files(self, branch: str = "main") -> list[str]:
        return git(self.bare, "ls-tree", "-r", "--name-only", branch).split("\n")

    def log(self, branch: str = "main") -> list[str]:
        return git(self.bare, "log", "--format=%an: %s", branch).split("\n")

    def outside(self, message: str, **files: str | None) -> None:
        """Commit files as somebody else: content by path with __ for /, None to remove."""
        if not self.clone.exists():
            git(self.folder, "clone", "--quiet", str(self.bare), str(self.clone))
        git(self.clone, "fetch", "--quiet")
        git(self.clone, "checkout", "--quiet", "-B", "main", "origin/main")
        for name, content in files.items():
            path = self.clone / name.replace("__", "/").replace("_json", ".json")
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--message", message)
        git(self.clone, "push", "--quiet", "origin", "main")

    def pull(self) -> Any:
        """Request a pull, do it, and return the changes of others."""
        assert self.editor.post(f"{PATH}/sync", {}).status_code == 200
        self.sync()
        return self.editor.get(f"{PATH}/changes").json()

    def take(self, folder: str, **more: Any) -> Any:
        seen = self.editor.get(f"{PATH}/changes/{folder}").json()
        body = {"commit": seen["commit"], "base_version": seen["latest_version"], **more}
        return self.editor.post(f"{PATH}/changes/{folder}", body)


@pytest.fixture
def bench(
    tmp_path: Path, people: People, client_of: Client, millrace_settings: Any
) -> Iterator[Bench]:
    millrace_settings.MILLRACE_GIT_ROOTS = (str(tmp_path / "repositories"),)
    with serving_analyzer(RecordedAnalyzer(RECORDED)) as address:
        millrace_settings.MILLRACE_ANALYZER = address
        yield Bench(tmp_path / "repositories", people, client_of)


def text_of(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def test_each_version_becomes_a_commit_of_program_document_and_tests(
    bench: Bench, people: People
) -> None:
    body = {"name": "Word count", "template": "word-count"}
    made = bench.editor.post("/api/workspaces/main/topologies", body).json()
    topology = Topology.objects.get(pk=made["id"])
    assert bench.bind(folder="flows").status_code == 200
    assert (bench.state()["working"], bench.state()["waiting"]) == (True, 1)
    state = bench.sync()
    assert (state["working"], state["waiting"], state["failure"]) == (False, 0, None)
    assert state["head"] == git(bench.bare, "rev-parse", "main")
    first = topology.versions.get()
    assert json.loads(bench.show("flows/Word-count/topology.json")) == first.document
    assert "Topology(" in bench.show("flows/Word-count/job.py")
    testing.keep_test(people.editor, topology, "Twice", [], {"dropped": 0})
    changed: Any = {**first.document, "description": "Counts words"}
    actions.save_version(people.operator, topology, changed, "Describe it", 1)
    assert bench.sync()["waiting"] == 0
    assert bench.log()[0] == "Operator: Describe it"
    assert len(bench.log()) == 2
    twice = json.loads(bench.show("flows/Word-count/tests/twice.json"))
    assert (twice["title"], twice["expected"]) == ("Twice", {"dropped": 0})
    described = git(bench.bare, "log", "-1", "--format=%ae %cn, %b", "main")
    assert described == "operator@localhost Millrace, Topology: Word count\nVersion: 2"
    listed = bench.editor.get(f"/api/topologies/{topology.pk}/versions").json()["results"]
    assert listed[0]["commit"] == git(bench.bare, "rev-parse", "main")
    assert [bool(each["commit"]) for each in listed] == [True, True]
    assert bench.pull() == []
    assert len(bench.log()) == 2


def test_other_files_stay_and_removed_tests_go(
    bench: Bench, people: People, topology: Topology
) -> None:
    kept = testing.keep_test(people.editor, topology, "One", [], {"dropped": 0})
    bench.bind()
    bench.sync()
    bench.outside("Notes", README_md="Ours", Orders__notes_txt="x", Orders__tests__test_x_py="x")
    testing.delete_test(people.editor, kept)
    actions.save_version(people.editor, topology, document("c"), "third", 2)
    state = bench.sync()
    assert (state["waiting"], state["refused"]) == (0, [])
    assert bench.files() == [
        "Orders/notes_txt", "Orders/tests/test_x_py", "Orders/topology.json", "README_md",
    ]  # fmt: skip
    assert bench.log() == ["Editor: third", "Grace: Notes", "Editor: second"]


def test_a_change_from_outside_is_shown_and_becomes_a_version(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    test = {"title": "From git", "inputs": [], "expected": {"dropped": 2}}
    bench.outside(
        "Add x",
        Orders__topology_json=text_of(document("a", "b", "x")),
        Orders__tests__from_git_json=text_of(test),
        Orders__tests__broken_json="{",
        Refunds__topology_json=text_of(document("r") | {"name": "Refunds"}),
    )
    orders, refunds = bench.pull()
    assert (orders["kind"], orders["topology"], orders["conflict"]) == (
        "changed", topology.pk, False,
    )  # fmt: skip
    assert (orders["author"], orders["message"]) == ("Grace", "Add x")
    assert (refunds["kind"], refunds["topology"], refunds["latest_version"]) == ("new", None, None)
    seen = bench.editor.get(f"{PATH}/changes/Orders").json()
    assert seen["theirs"] == document("a", "b", "x")
    assert seen["mine"]["document"] == document("a", "b")
    assert bench.take("Orders").json() == {"topology": topology.pk, "version": 3}
    third = topology.versions.get(number=3)
    assert third.document == document("a", "b", "x")
    assert third.message.startswith("Add x (Grace, ")
    assert topology.tests.get().name == "From git"
    entry = AuditEntry.objects.get(action="repository.take")
    assert (entry.detail["folder"], entry.detail["skipped"]) == ("Orders", ["broken.json"])
    answer = bench.take("Refunds").json()
    assert Topology.objects.get(pk=answer["topology"]).name == "Refunds"
    assert bench.sync()["waiting"] == 0
    assert bench.editor.get(f"{PATH}/changes").json() == []
    assert "Orders/tests/broken.json" in bench.files()
    assert bench.log()[0] == "Grace: Add x"


def test_changes_on_both_sides_are_both_shown_and_nothing_is_overwritten(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    bench.outside("Theirs", Orders__topology_json=text_of(document("a", "b", "theirs")))
    actions.save_version(people.editor, topology, document("a", "b", "mine"), "Mine", 2)
    state = bench.sync()
    assert state["waiting"] == 1
    assert state["refused"][0]["failure"]["code"] == "git_changed_outside"
    assert bench.log()[0] == "Grace: Theirs"
    (change,) = bench.editor.get(f"{PATH}/changes").json()
    assert change["conflict"] is True
    refused = bench.take("Orders")
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert error["code"] == "git_conflict"
    assert error["base"]["document"] == document("a", "b")
    assert error["mine"]["document"] == document("a", "b", "mine")
    assert error["theirs"] == document("a", "b", "theirs")
    both = document("a", "b", "mine", "theirs")
    late = bench.take("Orders", document=both, base_version=2)
    assert late.json()["error"]["code"] == "version_conflict"
    assert bench.take("Orders", document=both).json()["version"] == 4
    state = bench.sync()
    assert (state["waiting"], state["refused"]) == (0, [])
    assert json.loads(bench.show("Orders/topology.json")) == both
    # The version that waited is in the list, and not in the repository, which had another one.
    assert bench.log() == ["Editor: Theirs (Grace, " + change["commit"][:10] + ")",
                           "Grace: Theirs", "Editor: second"]  # fmt: skip


def test_a_folder_that_was_removed_or_is_unreadable_is_shown(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    bench.outside("Broken", Orders__topology_json='{"format": "x"}')
    (change,) = bench.pull()
    assert (change["kind"], change["conflict"]) == ("unreadable", False)
    assert "millrace.topology/1" in change["problem"]
    assert bench.take("Orders").json()["error"]["code"] == "git_unreadable"
    bench.outside("Remove", Orders__topology_json=None)
    (change,) = bench.pull()
    assert change["kind"] == "removed"
    assert bench.take("Orders").json() == {"topology": topology.pk, "version": 2}
    bench.sync()
    assert json.loads(bench.show("Orders/topology.json")) == document("a", "b")


def test_a_topology_that_was_deleted_here_is_shown_as_that_and_restored(
    bench: Bench, people: People, topology: Topology
) -> None:
    testing.keep_test(people.editor, topology, "late", [], {"dropped": 0})
    bench.bind()
    bench.sync()
    assert bench.editor.delete(f"/api/topologies/{topology.pk}").status_code == 204
    (change,) = bench.pull()
    assert (change["kind"], change["topology"]) == ("deleted", None)
    assert (change["topology_name"], change["deleted_by"]) == ("Orders", "Editor")
    assert change["deleted_at"] > 0
    # The repository goes on meanwhile, and somebody else adds a topology.
    bench.outside("Other", Other__topology_json=text_of(document("x")),
                  Orders__topology_json=text_of(document("a", "b", "c")))  # fmt: skip
    orders, other = sorted(bench.pull(), key=lambda each: each["kind"])
    assert [(each["folder"], each["kind"]) for each in (orders, other)] == [
        ("Orders", "deleted"),
        ("Other", "new"),
    ]
    assert (other["topology_name"], other["deleted_by"]) == (None, None)
    taken = bench.take("Orders")
    assert taken.json()["version"] == 1
    made = Topology.objects.get(pk=taken.json()["topology"])
    assert made.versions.get().document["nodes"][-1]["id"] == "c"
    assert [each.name for each in made.tests.all()] == ["late"]
    assert [each["folder"] for each in bench.pull()] == ["Other"]
    bench.editor.delete(f"/api/topologies/{made.pk}")
    assert bench.pull()[0]["kind"] == "deleted"


def test_a_change_that_was_seen_before_another_pull_is_not_taken(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    bench.outside("One", Orders__topology_json=text_of(document("one")))
    (seen,) = bench.pull()
    bench.outside("Two", Orders__topology_json=text_of(document("two")))
    bench.pull()
    refused = bench.take("Orders", commit=seen["commit"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "git_moved")
    assert bench.editor.get(f"{PATH}/changes/Nowhere").status_code == 404


def test_for_review_versions_go_to_a_branch_until_it_is_merged(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    bench.bind(review=True)
    for number, name in ((2, "c"), (3, "d")):
        actions.save_version(people.editor, topology, document(name), name, number)
    assert bench.sync()["waiting"] == 0
    assert bench.log("main") == ["Editor: second"]
    assert bench.log("millrace/Orders") == ["Editor: d", "Editor: c", "Editor: second"]
    # Merged as one commit of somebody else, as hosts of repositories do.
    bench.outside("Merged", Orders__topology_json=bench.show("Orders/topology.json",
                                                             "millrace/Orders") + "\n")  # fmt: skip
    assert bench.pull() == []
    assert RepositoryFolder.objects.get().base == 4
    git(bench.bare, "branch", "--quiet", "-D", "millrace/Orders")
    actions.save_version(people.editor, topology, document("e"), "e", 4)
    bench.sync()
    assert bench.log("millrace/Orders") == ["Editor: e", "Grace: Merged", "Editor: second"]
    # A reviewer pushes to the branch: the next version does not undo it.
    git(bench.clone, "fetch", "--quiet")
    git(bench.clone, "checkout", "--quiet", "-B", "r", "origin/millrace/Orders")
    (bench.clone / "Orders" / "topology.json").write_text(text_of(document("reviewed")))
    git(bench.clone, "commit", "--quiet", "--all", "--message", "Reviewed")
    git(bench.clone, "push", "--quiet", "origin", "r:millrace/Orders")
    actions.save_version(people.editor, topology, document("f"), "f", 5)
    state = bench.sync()
    assert (state["waiting"], len(state["refused"])) == (1, 1)
    assert bench.log("millrace/Orders")[0] == "Grace: Reviewed"


def test_two_that_push_at_the_same_time_both_arrive(
    bench: Bench, people: People, topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.bind()
    bench.sync()
    fetched, waiting = Mirror.fetch, [1]

    def fetch(mirror: Any, branch: str) -> None:
        fetched(mirror, branch)
        if waiting:
            waiting.pop()
            bench.outside("Meanwhile", NOTES="x")

    monkeypatch.setattr(Mirror, "fetch", fetch)
    actions.save_version(people.editor, topology, document("c"), "third", 2)
    assert bench.sync()["failure"] is None
    assert bench.log() == ["Editor: third", "Grace: Meanwhile", "Editor: second"]


def test_a_failure_is_tried_again_and_versions_are_saved_all_the_same(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    moved = bench.bare.rename(bench.folder / "moved.git")
    state = bench.sync()
    assert state["failure"]["code"] == "git_no_folder"
    assert state["retry_at"] is not None
    bench.bare.mkdir()
    bench.editor.post(f"{PATH}/sync", {})
    assert bench.sync()["failure"]["code"] == "git_no_repository"
    body = {"document": document("c"), "base_version": 2}
    path = f"/api/topologies/{topology.pk}/versions"
    assert bench.editor.post(path, body).status_code == 201
    bench.bare.rmdir()
    moved.rename(bench.bare)
    bench.editor.post(f"{PATH}/sync", {})
    state = bench.sync()
    assert (state["failure"], state["waiting"]) == (None, 0)
    assert len(bench.log()) == 2 or bench.log()[0] == "Editor: Version 3"


def test_a_rewritten_history_waits_for_a_person(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    bench.outside("More", NOTES="x")
    bench.pull()
    git(bench.bare, "update-ref", "refs/heads/main", "main~1")
    actions.save_version(people.editor, topology, document("c"), "third", 2)
    state = bench.sync()
    assert (state["failure"]["code"], state["retry_at"], state["waiting"]) == (
        "git_history",
        None,
        1,
    )
    assert bench.log() == ["Editor: second"]
    bench.editor.post(f"{PATH}/sync", {})
    assert bench.sync()["failure"]["code"] == "git_history"
    bench.editor.post(f"{PATH}/sync", {"accept_history": True})
    state = bench.sync()
    assert (state["failure"], state["waiting"]) == (None, 0)
    assert bench.log() == ["Editor: third", "Editor: second"]
    assert AuditEntry.objects.filter(action="repository.accept_history").count() == 1


def test_no_hook_runs_and_a_folder_with_open_changes_is_left_alone(
    bench: Bench, people: People, topology: Topology
) -> None:
    """A folder with a working tree shows the versions; its hooks and its changes are its own."""
    place = bench.folder / "plain"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch=main")
    ran = bench.folder / "ran"
    for repository in (place / ".git", bench.bare):
        for hook in ("pre-receive", "update", "post-receive", "post-update", "push-to-checkout",
                     "reference-transaction", "pre-push", "pre-auto-gc"):  # fmt: skip
            script = repository / "hooks" / hook
            script.parent.mkdir(exist_ok=True)
            script.write_text(f"#!/bin/sh\necho {hook} >> {ran}\nexit 1\n")
            script.chmod(0o755)
    bench.bind()
    assert bench.sync()["failure"] is None
    bench.bind(url=str(place))
    assert bench.sync()["failure"] is None
    assert json.loads((place / "Orders" / "topology.json").read_text()) == document("a", "b")
    (place / "Orders" / "topology.json").write_text("changed by hand")
    actions.save_version(people.editor, topology, document("c"), "third", 2)
    assert bench.sync()["failure"]["code"] == "git_dirty"
    assert (place / "Orders" / "topology.json").read_text() == "changed by hand"
    assert not ran.exists()


ADDRESSES = [
    ("ext::sh -c 'touch /tmp/x'", "git_address_invalid"),
    ("--upload-pack=touch", "git_address_invalid"),
    ("-u", "git_address_invalid"),
    ("file:///etc", "git_address_invalid"),
    ("ssh://git@example.com/a", "git_address_invalid"),
    ("git@example.com:a/b", "git_address_invalid"),
    ("https://user:secret@example.com/team/a", "git_address_invalid"),
    ("https://example.com/team/../other", "git_address_invalid"),
    ("https://example.com/team/%2e%2e/other", "git_address_invalid"),
    ("https://example.com/team/a?x=1", "git_address_invalid"),
    ("https://example.com/team", "git_not_allowed"),
    ("https://example.com/other/a", "git_not_allowed"),
    ("https://example.com.evil.org/main/a", "git_not_allowed"),
    ("https://example.com:444/main/a", "git_not_allowed"),
    ("http://example.com/main/a", "git_not_allowed"),
    ("relative/path", "git_address_invalid"),
    ("/etc", "git_not_allowed"),
    ("{root}/../outside.git", "git_not_allowed"),
    ("{root}/link", "git_not_allowed"),
    ("{root}/nowhere", "git_no_folder"),
]


def test_addresses_outside_of_the_listed_locations_are_refused(
    bench: Bench, millrace_settings: Any
) -> None:
    millrace_settings.MILLRACE_GIT_ROOTS += ("https://example.com/{workspace}",)
    (bench.folder.parent / "outside.git").mkdir()
    (bench.folder / "link").symlink_to(bench.folder.parent / "outside.git")
    for url, code in ADDRESSES:
        answer = bench.bind(url=url.format(root=bench.folder))
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code), url
    assert not Repository.objects.exists()


def test_a_permitted_address_is_checked_again_before_it_is_used(
    bench: Bench, people: People, topology: Topology, millrace_settings: Any
) -> None:
    bench.bind()
    outside = bench.folder.parent / "outside.git"
    shutil.move(bench.bare, outside)
    bench.bare.symlink_to(outside)
    assert bench.sync()["failure"]["code"] == "git_not_allowed"
    millrace_settings.MILLRACE_GIT_ROOTS = ()
    bench.editor.post(f"{PATH}/sync", {})
    assert bench.sync()["failure"]["code"] == "git_not_configured"
    assert git(outside, "for-each-ref") == ""
    assert bench.editor.get(PATH).json()["roots"] == []


def test_names_that_git_would_take_otherwise_are_refused(bench: Bench) -> None:
    branches = ("-f", "a..b", "HEAD", "a.lock", "a b", "/a")
    folders = (".git", "a/../b", "/a", ":(glob)")
    for given in [{"branch": each} for each in branches] + [{"folder": each} for each in folders]:
        answer = bench.bind(**given)
        assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, list(given))


def test_another_address_begins_anew_and_unbinding_leaves_the_repository(
    bench: Bench, people: People, topology: Topology
) -> None:
    bench.bind()
    bench.sync()
    other = bench.folder / "other.git"
    other.mkdir()
    git(other, "init", "--quiet", "--bare", "--initial-branch=main")
    bench.bind(url=str(other))
    assert bench.sync()["waiting"] == 0
    assert git(other, "log", "--format=%s", "main") == "second"
    # The same topology is recognized where it is already.
    bench.bind()
    assert (bench.sync()["waiting"], bench.log()) == (0, ["Editor: second"])
    assert bench.admin.delete(PATH).status_code == 204
    assert bench.state() is None
    assert bench.editor.post(f"{PATH}/sync", {}).json()["error"]["code"] == "no_repository"
    assert bench.log() == ["Editor: second"]
    actions.save_version(people.editor, topology, document("c"), "third", 2)
    assert syncing.due() == []


class Host(ThreadingHTTPServer):
    """Git over HTTP with a password, as hosts of repositories serve it, by git's own CGI."""

    root: Path
    elsewhere = ""

    class Handler(BaseHTTPRequestHandler):
        server: Host

        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self._answer(body)
            else:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, body: bytes) -> None:
            if self.server.elsewhere:
                self.send_response(302)
                self.send_header("Location", self.server.elsewhere + self.path)
                self.end_headers()
                return
            wanted = "Basic " + base64.b64encode(b"millrace:s3cret-7").decode()
            if self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            done = subprocess.run(
                ["git", "-c", "http.receivepack=true", "http-backend"],
                input=body,
                env={
                    "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.root),
                    "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command,
                    "PATH_INFO": path, "QUERY_STRING": query, "REMOTE_USER": "millrace",
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                },
                capture_output=True,
                check=True,
            )  # fmt: skip
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
            status = dict(fields).get("Status", "200 OK")
            self.send_response(int(status[:3]))
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass


def test_a_remote_gets_the_password_of_its_address_which_is_shown_nowhere(
    bench: Bench, people: People, topology: Topology, millrace_settings: Any,
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    with Host(("127.0.0.1", 0), Host.Handler) as host:
        host.root = bench.folder
        threading.Thread(target=host.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{host.server_port}"
        millrace_settings.MILLRACE_GIT_ROOTS = (url,)
        assert bench.bind(url=f"{url}/orders.git").status_code == 200
        assert bench.sync()["failure"]["code"] == "git_denied"
        millrace_settings.MILLRACE_GIT_PASSWORDS = {f"{url}/orders.git": "millrace:wrong-9"}
        bench.editor.post(f"{PATH}/sync", {})
        denied = bench.sync()
        assert denied["failure"]["code"] == "git_denied"
        millrace_settings.MILLRACE_GIT_PASSWORDS = {f"{url}/orders.git": "millrace:s3cret-7"}
        bench.editor.post(f"{PATH}/sync", {})
        assert bench.sync()["failure"] is None
        assert bench.log() == ["Editor: second"]
        # A host that redirects does not get the password for another one.
        host.elsewhere = "http://127.0.0.1:1"
        bench.editor.post(f"{PATH}/sync", {})
        assert bench.sync()["failure"]["code"] == "git_unreachable"
        host.shutdown()
    shown = bench.editor.get(PATH).content.decode() + json.dumps(denied)
    written = "".join(map(str, AuditEntry.objects.values_list("detail", flat=True)))
    logged = "".join(capfd.readouterr()) + caplog.text
    config = (bench.folder.parent / "git").rglob("config")
    for secret in ("s3cret-7", "wrong-9", base64.b64encode(b"millrace:s3cret-7").decode()):
        assert secret not in shown + written + logged
        assert not any(secret in path.read_text() for path in config)


def test_without_an_analyzer_versions_wait(
    bench: Bench, people: People, millrace_settings: Any
) -> None:
    millrace_settings.MILLRACE_ANALYZER = "/nowhere"
    actions.create_topology(people.editor, people.workspace, "T", document())
    bench.editor.post(
        "/api/workspaces/main/topologies", {"name": "Words", "template": "word-count"}
    )
    bench.bind()
    state = bench.sync()
    assert (state["failure"]["code"], state["waiting"]) == ("analyzer_unreachable", 2)


def test_names_become_folders_that_differ() -> None:
    assert folder_name("Orders & refunds", ["orders-refunds"]) == "Orders-refunds-2"
    assert folder_name("../..", []) == "topology"
    assert folder_name("每小时 计数", []) == "每小时-计数"
    assert problem_of_url("https://example.com/team/orders.git") is None


@pytest.mark.parametrize("value", ["relative", "ssh://host/a", "https://user:p@host/a"])
def test_a_root_that_is_no_location_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="MILLRACE_GIT_ROOTS"):
        environment.read({"MILLRACE_GIT_ROOTS": f"/srv/git, {value}"})


@pytest.mark.parametrize("value", ["[]", "{", '{"https://host/a": "secret"}'])
def test_passwords_that_cannot_be_read_are_refused_without_showing_them(value: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        environment.read({"MILLRACE_GIT_PASSWORDS": value})
    assert "secret" not in str(refused.value).replace("millrace:secret", "")
