from __future__ import annotations

from pathlib import Path

from checks import untyped


def test_each_room_has_as_many_untyped_dictionaries_as_its_budget() -> None:
    """If a count is lower, lower the budget in pyproject.toml; if it is higher, declare a shape."""
    assert untyped.counts() == untyped.budgets()


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
