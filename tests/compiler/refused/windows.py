"""Refusals of windows, joins and suppress."""

from __future__ import annotations

from tests.compiler.kit import (
    document,
    line,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused.made import (
    Refused,
    join,
    window,
    with_store,
)

WINDOWS: Refused = {
    # ---- windows
    "a window of size 0": (
        window(type="tumbling", size=0),
        ("duration_too_short", "count", "window"),
    ),
    "an advance of 0": (
        window(type="hopping", size=10, advance=0),
        ("duration_too_short", "count", "window"),
    ),
    "an advance above the size": (
        window(type="hopping", size=10, advance=11),
        ("window_advance", "count", "window"),
    ),
    "a negative grace": (
        window(type="tumbling", size=10, grace=-1),
        ("duration_too_short", "count", "window"),
    ),
    "a negative gap": (window(type="session", gap=-1), ("duration_too_short", "count", "window")),
    "a negative difference": (
        window(type="sliding", difference=-1),
        ("duration_too_short", "count", "window"),
    ),
    "a window of no type": (window(size=10), ("choice", "count", "window")),
    "a window without size": (window(type="tumbling"), ("window_part_missing", "count", "window")),
    "a part of another window": (
        window(type="tumbling", size=1, gap=1),
        ("window_part", "count", "window"),
    ),
    "a size that is no duration": (
        window(type="tumbling", size="soon"),
        ("duration", "count", "window"),
    ),
    "windows of a function without size": (
        window(type="custom", code="def own(t): ..."),
        ("window_part_missing", "count", "window"),
    ),
    "windows without a function": (
        window(type="custom", code="HOUR = 1", size=10),
        ("window_function", "count", "window"),
    ),
    "windows of a function with two arguments": (
        window(type="custom", code="def own(a, b): ...", size=10),
        ("window_arguments", "count", "window"),
    ),
    "final results of windows of a function": (
        line(
            node(
                "count",
                "count",
                emit="window_close",
                window={"type": "custom", "code": "def own(t): ...", "size": 10},
            )
        ),
        ("emit_custom", "count", "emit"),
    ),
    "a size and a calendar unit": (
        window(type="tumbling", size=10, unit="day"),
        ("window_size_and_unit", "count", "window"),
    ),
    "an unknown calendar unit": (
        window(type="tumbling", unit="fortnight"),
        ("choice", "count", "window"),
    ),
    "a time zone without a calendar unit": (
        window(type="tumbling", size=10, time_zone="UTC"),
        ("window_zone", "count", "window"),
    ),
    "a time zone that nobody knows": (
        window(type="tumbling", unit="day", time_zone="Europe/Pariss"),
        ("window_zone_unknown", "count", "window"),
    ),
    "a file of the time zone database": (
        window(type="tumbling", unit="day", time_zone="posixrules"),
        ("window_zone_unknown", "count", "window"),
    ),
    "an offset of a whole size": (
        window(type="tumbling", size=10, offset=10),
        ("window_offset", "count", "window"),
    ),
    "an offset of a whole advance": (
        window(type="hopping", size=10, advance=5, offset=5),
        ("window_offset", "count", "window"),
    ),
    "an offset that not every month reaches": (
        window(type="tumbling", unit="month", offset="28 days"),
        ("window_offset", "count", "window"),
    ),
    "an offset of sessions": (
        window(type="session", gap=10, offset=1),
        ("window_part", "count", "window"),
    ),
    "a retention shorter than a day of 25 hours": (
        with_store(
            window(type="tumbling", unit="day"), "count", store("rows", "window", retention="1 day")
        ),
        ("retention", "rows", "retention"),
    ),
    "final results of an unlimited window": (
        line(node("count", "count", window={"type": "unlimited"}, emit="window_close")),
        ("emit_unlimited", "count", "emit"),
    ),
    "final results without a window": (
        line(node("count", "count", emit="window_close")),
        ("needed_with", "count", "window"),
    ),
    "sessions without a merger": (
        line(
            node(
                "sum",
                "aggregate",
                type="STRING",
                initializer="''",
                aggregator="agg",
                window={"type": "session", "gap": 1},
            )
        ),
        ("merger_missing", "sum", "merger"),
    ),
    "a merger without sessions": (
        line(
            node(
                "sum", "aggregate", type="STRING", initializer="''", aggregator="agg", merger="left"
            )
        ),
        ("merger_unwanted", "sum", "merger"),
    ),
    "a retention shorter than size and grace": (
        with_store(
            window(type="tumbling", size=10, grace=5),
            "count",
            store("rows", "window", retention=14),
        ),
        ("retention", "rows", "retention"),
    ),
    "a subtractor for a stream": (
        line(node("sum", "reduce", reducer="agg", subtractor="agg")),
        ("only_for_tables", "sum", "subtractor"),
    ),
    "a value to group a stream by": (
        line(node("count", "count", group_by={"key": "value", "value": "key"})),
        ("group_by_value", "count", "group_by"),
    ),
    "a table that is not grouped": (
        document([table(), node("count", "count"), sink()], ["table > count", "count > out"]),
        ("needed_for_tables", "count", "group_by"),
    ),
    "a table grouped without a value": (
        document(
            [table(), node("count", "count", group_by={"key": "value"}), sink()],
            ["table > count", "count > out"],
        ),
        ("group_by_needs_value", "count", "group_by"),
    ),
    "a table without a subtractor": (
        document(
            [
                table(),
                node("sum", "reduce", reducer="agg", group_by={"key": "key", "value": "value"}),
                sink(),
            ],
            ["table > sum", "sum > out"],
        ),
        ("needed_for_tables", "sum", "subtractor"),
    ),
    "a window on a table": (
        document(
            [
                table(),
                node(
                    "count",
                    "count",
                    group_by={"key": "key", "value": "value"},
                    window={"type": "tumbling", "size": 1},
                ),
                sink(),
            ],
            ["table > count", "count > out"],
        ),
        ("only_for_streams", "count", "window"),
    ),
    # ---- joins, suppress
    "a join window that is empty": (
        join("stream_stream", stream("l"), stream("r"), before=5, after=-6),
        ("join_window", "join", "before"),
    ),
    "a join with a negative grace": (
        join("stream_stream", stream("l"), stream("r"), before=5, after=5, grace=-1),
        ("duration_too_short", "join", "grace"),
    ),
    "an outer join with a table": (
        join("stream_table", stream("l"), table("r"), type="outer"),
        ("choice", "join", "type"),
    ),
    "a grace on a table that is not versioned": (
        join("stream_table", stream("l"), table("r"), grace=2),
        ("join_grace", "join", "grace"),
    ),
    "a grace on a step over a versioned table": (
        with_store(
            document(
                [
                    stream("l"),
                    table("r"),
                    node("some", "filter", predicate="true"),
                    node("join", "join.stream_table", type="inner", joiner="left", grace=2),
                    sink(),
                ],
                ["l > join.left", "r > some", "some > join.right", "join > out"],
            ),
            "r",
            store("rows", "versioned", history_retention=5),
        ),
        ("join_grace", "join", "grace"),
    ),
    "a grace longer than the table's history": (
        with_store(
            join("stream_table", stream("l"), table("r"), grace=6),
            "r",
            store("rows", "versioned", history_retention=5),
        ),
        ("join_grace_history", "join", "grace"),
    ),
    "a join that is not co-partitioned": (
        join("table_table", table("l"), table("r"), topics={"l": 2, "r": 3}),
        ("not_copartitioned", "join", "right"),
    ),
    "suppress on a versioned table": (
        with_store(
            document(
                [table(), node("quiet", "suppress", until="time_limit", limit=5), sink()],
                ["table > quiet", "quiet > out"],
            ),
            "table",
            store("rows", "versioned", history_retention=5),
        ),
        ("suppress_versioned", "quiet", "in"),
    ),
    "suppress on a windowed cogroup of a versioned table's updates": (
        with_store(
            document(
                [
                    table(),
                    node("updates", "to_stream"),
                    node(
                        "all",
                        "cogroup",
                        type="STRING",
                        initializer="''",
                        inputs=[{"port": "in1", "aggregator": "agg"}],
                        window={"type": "tumbling", "size": 10},
                    ),
                    node("quiet", "suppress", until="window_closes"),
                    sink(),
                ],
                ["table > updates", "updates > all.in1", "all > quiet", "quiet > out"],
            ),
            "table",
            store("rows", "versioned", history_retention=5),
        ),
        ("suppress_inherited", "quiet", "in"),
    ),
    "final results of a table without windows": (
        document(
            [table(), node("quiet", "suppress", until="window_closes"), sink()],
            ["table > quiet", "quiet > out"],
        ),
        ("suppress_window", "quiet", "until"),
    ),
    "a time limit without a limit": (
        document(
            [table(), node("quiet", "suppress", until="time_limit"), sink()],
            ["table > quiet", "quiet > out"],
        ),
        ("needed_with", "quiet", "limit"),
    ),
    "a limit for final results": (
        document(
            [
                stream(),
                node("count", "count", window={"type": "tumbling", "size": 1}),
                node("quiet", "suppress", until="window_closes", limit=3),
                sink(),
            ],
            ["in > count", "count > quiet", "quiet > out"],
        ),
        ("only_with", "quiet", "limit"),
    ),
    "final results that are emitted early": (
        document(
            [
                stream(),
                node("count", "count", window={"type": "tumbling", "size": 1}),
                node("quiet", "suppress", until="window_closes", max_records=3, when_full="emit"),
                sink(),
            ],
            ["in > count", "count > quiet", "quiet > out"],
        ),
        ("suppress_emit", "quiet", "when_full"),
    ),
    "a buffer of no records": (
        document(
            [
                table(),
                node("quiet", "suppress", until="time_limit", limit=1, max_records=0),
                sink(),
            ],
            ["table > quiet", "quiet > out"],
        ),
        ("out_of_bounds", "quiet", "max_records"),
    ),
}
