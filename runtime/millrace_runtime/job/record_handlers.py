"""Decisions about single records that stopped a job."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from millrace_model.graphs import RecordHandlerJson

from millrace_runtime.errors import MillraceError

_PLACE = re.compile(r"([A-Za-z0-9._-]{1,249}):(\d{1,9}):(\d{1,18})")


@dataclass(frozen=True)
class RecordHandler:
    """The handler that replaces `fail` for the record at one offset of one topic-partition.

    The record is dropped, or becomes a dead letter, at the node where it fails. Its effects before
    that and on other nodes remain, so a batch that is run again has the same results, as if this
    had been the handler in the settings.
    """

    topic: str
    partition: int
    offset: int
    handler: Literal["continue", "dead_letter"]

    def as_json(self) -> RecordHandlerJson:
        """Return the form that the operator reads."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "handler": self.handler,
        }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a job with decisions about single records."""
    for option, what in (
        ("--skip-record", "is dropped where it fails, instead of stopping the job"),
        (
            "--dead-letter-record",
            "is sent to the dead letter topic where it fails, if there is one",
        ),
    ):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="TOPIC:PARTITION:OFFSET",
            help=f"this record {what} (repeatable)",
        )


def handlers_of(arguments: argparse.Namespace) -> Sequence[RecordHandler]:
    """Return the handlers in a job's options.

    Raises MillraceError `option_invalid`.
    """
    return [
        *(_handler("--skip-record", text, "continue") for text in arguments.skip_record),
        *(
            _handler("--dead-letter-record", text, "dead_letter")
            for text in arguments.dead_letter_record
        ),
    ]


def _handler(option: str, text: str, handler: Literal["continue", "dead_letter"]) -> RecordHandler:
    found = _PLACE.fullmatch(text)
    if found is None:
        raise MillraceError(
            "option_invalid", f"{option} is {text!r}, but must be TOPIC:PARTITION:OFFSET."
        )
    return RecordHandler(found[1], int(found[2]), int(found[3]), handler)
