"""What the editor of processors offers is what the runtime has."""

from __future__ import annotations

from checks.processor_api import FILE, api, text


def test_the_committed_members_are_those_of_the_runtime() -> None:
    assert FILE.read_text("utf-8") == text(), "run ./millrace api"


def test_every_member_is_explained() -> None:
    members = {(owner, each["name"]): each for owner, found in api().items() for each in found}
    assert {owner for owner, _ in members} >= {"ProcessorContext", "ReadOnlyWindowStore", "Record"}
    assert [place for place, each in members.items() if not each["help"]] == []
    assert members["KeyValueStore", "put"]["call"] == "put(key, value)"
    assert ("ReadOnlyKeyValueStore", "put") not in members
