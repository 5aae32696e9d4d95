"""The page has a text for every action that the audit log of a workspace records."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from launcher import places

TEXTS = places.REPOSITORY / "frontend" / "src" / "pages" / "auditTexts.ts"
#: functions that write to the audit log, and get the code of the action
WRITERS = {"audit", "_audit", "_changed", "ChangeByPerson"}
#: codes that are put together
COMPOSED = {
    *("test.keep", "test.delete", "deployment.skip_record", "deployment.dead_letter_record"),
    *("account.promote", "account.demote"),
}


#: details from which the page takes the name of the subject (`subjectText`)
NAMES = {"topology", "name", "topic", "username"}


def calls(writers: set[str]) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of these functions in the backend, with their place."""
    for path in (places.REPOSITORY / "backend").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", None) in writers:
                yield f"{path.relative_to(places.REPOSITORY)}:{call.lineno}", call


def recorded() -> set[str]:
    """Return the codes of all actions that the backend records."""
    return {
        each.value
        for _, call in calls(WRITERS)
        for argument in call.args
        for each in ast.walk(argument)
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and re.fullmatch(r"[a-z_]+\.[a-z_]+", each.value)
    }


def test_every_recorded_action_has_a_text_on_the_page() -> None:
    text = TEXTS.read_text("utf-8")
    shown = set(re.findall(r'^  "([a-z_]+\.[a-z_]+)": phrase', text, re.MULTILINE))
    wanted = recorded() | COMPOSED
    assert len(wanted) > 50
    assert wanted == shown


def test_every_entry_records_the_name_of_what_it_is_about() -> None:
    # `**what` is checked where it is made; without a name, the log says “user 1”.
    entries = [(place, {each.arg for each in call.keywords}) for place, call in calls({"audit"})]
    assert len(entries) > 40
    assert [place for place, given in entries if not given & {*NAMES, None}] == []
