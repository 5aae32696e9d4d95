"""Processors in Python. The oracle has a twin of the same name for each (`Processors.scala`)."""

from __future__ import annotations

import dataclasses
import textwrap

#: kind and parameters of a store
StoreOf = tuple[str, dict[str, str | int]]


@dataclasses.dataclass(frozen=True)
class Twin:
    """A processor: its input and output types, and the body of its class.

    `takes`: accepted value types; `stores`: kind and parameters of each; `clock`: `stream` or
    `wall` if it schedules punctuations; `value`: the output's type, None for that of the input.
    """

    name: str
    body: str
    takes: tuple[str, ...] = ("STRING",)
    value: str | None = "STRING"
    outputs: tuple[str, ...] = ()
    stores: tuple[StoreOf, ...] = ()
    clock: str | None = None
    fixed: bool = False
    rekeys: bool = False

    @property
    def code(self) -> str:
        """The source of the class, which has the name of the twin."""
        opened = "".join(
            f'    self.s{n} = context.store("{{{n}}}")\n' for n in range(len(self.stores))
        )
        body = textwrap.dedent(self.body).strip("\n")
        start = "def init(self, context):\n    self.context = context\n" + opened
        if body.startswith("start:"):
            first, _, body = body.partition("\n\n")
            start += textwrap.indent(textwrap.dedent(first.removeprefix("start:\n")), "    ") + "\n"
        return f"class {self.name}(Processor):\n" + textwrap.indent(f"{start}\n{body}\n", "    ")


ROWS: tuple[StoreOf, ...] = (("store.key_value", {"key_type": "STRING", "value_type": "STRING"}),)
COUNTS: tuple[StoreOf, ...] = (("store.key_value", {"key_type": "STRING", "value_type": "INT"}),)
TOTALS: tuple[StoreOf, ...] = (("store.key_value", {"key_type": "STRING", "value_type": "BIGINT"}),)

TWINS = [
    Twin(
        "PassOn",
        "def process(self, record):\n    self.context.forward(record)",
        ("STRING", "BIGINT", "STRUCT"),
        None,
    ),
    Twin(
        "PassOn",
        "def process(self, record):\n    self.context.forward(record)",
        ("STRING", "BIGINT", "STRUCT"),
        None,
        fixed=True,
    ),
    Twin(
        "ThrowOnBad",
        """
        def process(self, record):
            if record.value is None:
                raise ValueError("no value")
            self.context.forward(record)
        """,
    ),
    Twin(
        "SplitWords",
        """
        def process(self, record):
            for word in record.value.split(" "):
                self.context.forward(Record(word, len(word), record.timestamp))
        """,
        value="BIGINT",
        rekeys=True,
    ),
    Twin(
        "RunningWordCount",
        """
        start:
        context.schedule(1000, STREAM_TIME, self.report)

        def process(self, record):
            for word in record.value.lower().split(" "):
                self.s0.put(word, (self.s0.get(word) or 0) + 1)

        def report(self, timestamp):
            for word, count in self.s0.all():
                self.context.forward(Record(word, str(count), timestamp))
        """,
        stores=COUNTS,
        clock="stream",
        rekeys=True,
    ),
    Twin(
        "ShortWordCount",
        """
        start:
        context.schedule(10, STREAM_TIME, self.report)

        def process(self, record):
            word = record.value
            self.s0.put(word, (self.s0.get(word) or 0) + 1)

        def report(self, timestamp):
            for word, count in list(self.s0.all()):
                self.context.forward(Record(word, str(count), timestamp))
                self.s0.delete(word)
        """,
        stores=COUNTS,
        clock="stream",
        rekeys=True,
    ),
    Twin(
        "StreamTimeTicker10",
        """
        start:
        context.schedule(10, STREAM_TIME, self.tick)

        def process(self, record):
            pass

        def tick(self, timestamp):
            self.context.forward(Record("tick", timestamp, timestamp))
        """,
        ("STRING", "BIGINT", "STRUCT"),
        "BIGINT",
        clock="stream",
        rekeys=True,
    ),
    Twin(
        "WallClockTicker10",
        """
        start:
        context.schedule(10, WALL_CLOCK_TIME, self.tick)

        def process(self, record):
            pass

        def tick(self, timestamp):
            self.context.forward(Record("tick", timestamp, timestamp))
        """,
        ("STRING", "BIGINT", "STRUCT"),
        "BIGINT",
        clock="wall",
        rekeys=True,
    ),
    Twin(
        "WallClockRows",
        """
        start:
        context.schedule(15, WALL_CLOCK_TIME, self.tick)

        def process(self, record):
            self.s0.put(record.key, record.value)

        def tick(self, timestamp):
            for key, value in self.s0.all():
                self.context.forward(Record(key, value, timestamp))
        """,
        stores=ROWS,
        clock="wall",
        rekeys=True,
    ),
    Twin(
        "RouteBang",
        """
        def process(self, record):
            result = record.replace(value=("null" if record.value is None else record.value) + "-1")
            if record.value.startswith("!"):
                self.context.forward(result, to="to3")
            else:
                self.context.forward(result)
        """,
        outputs=("to2", "to3"),
    ),
    Twin(
        "RouteBySign",
        """
        def process(self, record):
            value = record.value or 0
            if value < 0:
                self.context.forward(record.replace(value=-value), to="negative")
            elif value == 0:
                self.context.forward(record)
            else:
                key = "null" if record.key is None else record.key
                self.context.forward(record.replace(key=key + "!"), to="positive")
                later = record.replace(timestamp=record.timestamp + 1000)
                self.context.forward(later, to="positive")
        """,
        ("BIGINT",),
        "BIGINT",
        outputs=("positive", "negative", "unused"),
        rekeys=True,
    ),
    Twin(
        "PreviousValue",
        """
        def process(self, record):
            before = self.s0.get(record.key)
            self.s0.put(record.key, record.value)
            for part in record.value.split(","):
                self.context.forward(record.replace(value="%s>%s" % (before or "-", part)))
        """,
        stores=ROWS,
        fixed=True,
    ),
    Twin(
        "BookBalance",
        """
        def process(self, record):
            total = (self.s0.get(record.key) or 0) + (record.value or 0)
            self.s0.put(record.key, total if total else None)
        """,
        ("BIGINT",),
        "BIGINT",
        stores=TOTALS,
        rekeys=True,
    ),
    Twin(
        "AnswerBalance",
        """
        def process(self, record):
            self.context.forward(record.replace(value=self.s0.get(record.key)))
        """,
        ("STRING", "BIGINT"),
        "BIGINT",
        stores=TOTALS,
        fixed=True,
    ),
    Twin(
        "StampFromValue",
        """
        def process(self, record):
            self.context.forward(record.replace(timestamp=record.value or 0))
        """,
        ("BIGINT",),
        "BIGINT",
        fixed=True,
    ),
    Twin(
        "RowsInOrder",
        """
        def process(self, record):
            if record.value == "x":
                gone = self.s0.delete(record.key)
                self.context.forward(record.replace(value="gone %s" % gone))
            elif record.value == "y1":
                first = self.s0.put_if_absent(record.key, "first")
                self.context.forward(record.replace(value="first %s" % first))
            else:
                self.s0.put(record.key, record.value)
            told = ["%s=%s" % row for row in self.s0.range("a", "b")]
            told += ["%s=%s" % row for row in self.s0.reverse_range(None, "c")]
            told += ["%s=%s" % row for row in self.s0.prefix_scan("b")]
            told += ["%s=%s" % row for row in self.s0.reverse_all()]
            self.context.forward(record.replace(value=" ".join(told)))
        """,
        stores=ROWS,
        rekeys=True,
    ),
    Twin(
        "RecentBuckets",
        """
        def process(self, record):
            start = record.timestamp // 10 * 10
            total = (self.s0.fetch(record.key, start) or 0) + (record.value or 0)
            self.s0.put(record.key, total, start)
            found = self.s0.fetch(record.key, start - 20, start)
            told = ",".join("%d:%d" % bucket for bucket in found)
            self.context.forward(record.replace(value=told))
        """,
        ("BIGINT",),
        stores=(
            (
                "store.window",
                {"key_type": "STRING", "value_type": "BIGINT", "retention": 40, "window_size": 10},
            ),
        ),
        rekeys=True,
    ),
    Twin(
        "WindowScan",
        """
        def process(self, record):
            now = record.timestamp
            self.s0.put(record.key, record.value, now)
            told = ["%d:%s" % row for row in self.s0.fetch(record.key, now - 10, now + 10)]
            told += ["%d:%s" % row for row in self.s0.backward_fetch(record.key, now - 10, now)]
            for found in (self.s0.all(), self.s0.fetch_all(now - 5, now + 5)):
                for key, value in found:
                    told.append("%s@%d=%s" % (key["key"], key["window"]["start"], value))
            self.context.forward(record.replace(value=" ".join(told)))
        """,
        stores=(
            (
                "store.window",
                {"key_type": "STRING", "value_type": "STRING", "retention": 30, "window_size": 5},
            ),
        ),
        rekeys=True,
    ),
    Twin(
        "SessionVisits",
        """
        def process(self, record):
            start, end, total = record.timestamp, record.timestamp, record.value or 0
            near = self.s0.find_sessions(record.key, record.timestamp - 10, record.timestamp + 10)
            for key, value in list(near):
                window = key["window"]
                start, end = min(start, window["start"]), max(end, window["end"])
                total += value
                self.s0.remove(record.key, window["start"], window["end"])
            self.s0.put(record.key, start, end, total)
            text = "%d..%d=%d" % (start, end, total)
            self.context.forward(Record(record.key, text, record.timestamp))
        """,
        ("BIGINT",),
        stores=(
            ("store.session", {"key_type": "STRING", "value_type": "BIGINT", "retention": 50}),
        ),
        rekeys=True,
    ),
    Twin(
        "VersionedRows",
        """
        def process(self, record):
            now = record.timestamp
            if record.value == "x":
                old = self.s0.delete(record.key, now)
                told = ["gone %s" % old]
            else:
                self.s0.put(record.key, record.value, now)
                told = []
            for found in (self.s0.get(record.key), self.s0.get(record.key, now - 10)):
                told.append(self.say(found))
            self.context.forward(record.replace(value=" ".join(told)))

        def say(self, found):
            return "-" if found is None else "%s@%d" % found
        """,
        stores=(
            (
                "store.versioned",
                {"key_type": "STRING", "value_type": "STRING", "history_retention": 20},
            ),
        ),
        rekeys=True,
    ),
    Twin(
        "Where",
        """
        def process(self, record):
            c = self.context
            told = "%s/%d/%d" % (c.topic or "null", c.partition, c.offset)
            self.context.forward(record.replace(value=told))
        """,
        ("STRING", "BIGINT", "STRUCT"),
        fixed=True,
    ),
]
