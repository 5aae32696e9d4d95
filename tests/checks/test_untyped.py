from __future__ import annotations

from pathlib import Path

from checks import untyped


def test_no_room_has_more_untyped_dictionaries_than_its_budget() -> None:
    """If a count is higher, declare a shape in millrace_model; never raise the budget."""
    allowed = untyped.budgets()
    over = {room: count for room, count in untyped.counts().items() if count > allowed[room]}
    assert over == {}, "run python -m checks.untyped ROOM"


def test_uses_of_a_name_count_like_the_type_that_it_stands_for(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "one.py").write_text(
        "Row = dict[str, Any]\n\ndef f(row: Row, more: list[Mapping[str, Any]]) -> Row: ...\n"
    )
    (room / "two.py").write_text(
        "from room.one import Row as Line\n\ndef g(line: Line, typed: dict[str, int]): ...\n"
    )
    assert [count for _, count in untyped.by_file(tmp_path, "room")] == [4, 1]
