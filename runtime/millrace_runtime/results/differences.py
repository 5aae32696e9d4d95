"""Differences between the expected and the actual result of a run, as data and as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from millrace_model.scenarios import DifferenceJson

#: The sentence of each code. Names in braces are filled in with the facts of the difference.
SENTENCES: dict[str, str] = {
    # ---- how a run ends
    "not_refused": "expected a refusal, but it ran",
    "refused_without_message": "refused without a message: {found}",
    "failed": "failed: {found}",
    "not_stopped": "expected to stop after input {after}, but it continued",
    "stopped_elsewhere": "expected to stop after input {after}, not {found}",
    # ---- records
    "record_differs": "{topic}[{place}]: expected {expected}, got {found}",
    "record_missing": "{topic}[{place}]: expected {expected}, got nothing",
    "record_unexpected": "{topic}[{place}]: expected nothing, got {found}",
    "input_missing": "{topic}, input {after}: missing {record}",
    "input_unexpected": "{topic}, input {after}: unexpected {record}",
    "unexpected": "{topic}: unexpected {record}",
    "last_differs": "{topic}, key {key}: expected {expected}, got {found}",
    "dropped": "dropped: expected {expected}, got {found}",
    # ---- stores
    "store_missing": "store {store}: missing",
    "row_missing": "store {store}, key {key}: missing",
    "row_unexpected": "store {store}, key {key}: unexpected",
    "row_differs": "store {store}, key {key}: expected {expected}, got {found}",
    "row_timestamp": "store {store}, key {key}: expected timestamp {expected}, got {found}",
    # ---- conditions
    "condition_record": "{topic}[{place}]: expected {predicate}, got {found}",
    "condition_row": "store {store}, key {key}: expected {predicate}, got {found}",
    "condition_no_record": "{topic}: expected a record with {predicate}, got none in {count}",
    "condition_no_row": "store {store}: expected a row with {predicate}, got none in {count}",
    "condition_records": "{topic}, records with {predicate}: expected {expected}, got {found}",
    "condition_rows": "store {store}, rows with {predicate}: expected {expected}, got {found}",
    # ---- descriptions
    "part_missing": "missing: {part}",
    "part_unexpected": "unexpected: {part}",
}


@dataclass(frozen=True)
class Difference:
    """One difference: a code of `SENTENCES` and the facts of its sentence."""

    code: str
    facts: Mapping[str, str]

    @classmethod
    def of(cls, code: str, **facts: object) -> Difference:
        """Create a difference; facts of any type are converted to text."""
        return cls(code, {name: str(fact) for name, fact in facts.items()})

    def __str__(self) -> str:
        return SENTENCES[self.code].format_map(self.facts)

    def to_json(self) -> DifferenceJson:
        """Return the form in which the API has it."""
        return {"code": self.code, "facts": dict(self.facts), "message": str(self)}
