"""The wider generator: all kinds and parameters of the contract that the oracle supports."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from millrace_model.documents import DocumentSettings, Format, Params
from millrace_model.records import InputLine
from millrace_model.scenarios import Scenario as ScenarioJson

from oracle.fuzz.parts import STRUCT, Choice, Columns, Ins, Out, SourceRole
from oracle.fuzz.several import Several

FORMATS: dict[str, Format] = {
    "STRING": {"format": "string"},
    "BIGINT": {"format": "long"},
    "DOUBLE": {"format": "double"},
    "BOOLEAN": {"format": "boolean"},
    STRUCT: {"format": "json", "schema": "g STRING, n BIGINT, s STRING"},
}
AVRO_FIELDS = [
    {"name": name, "type": ["null", type_], "default": None}
    for name, type_ in (("g", "string"), ("n", "long"), ("s", "string"))
]
AVRO: Format = {
    "format": "avro",
    "schema": json.dumps({"type": "record", "name": "R", "fields": AVRO_FIELDS}),
}
PROTOBUF: Format = {
    "format": "protobuf",
    "schema": 'syntax = "proto3"; message R { optional string g = 1; optional int64 n = 2; '
    "optional string s = 3; }",
}
STEPS = {
    "stateless": [
        "filter", "filter_not", "map", "map_values", "select_key", "flat_map", "flat_map_values",
        "peek",
    ],
    "table_stateless": ["filter", "filter_not", "map_values"],
    "aggregate_stream": [
        f"{kind}@{window}"
        for kind in ("count", "reduce", "aggregate")
        for window in ("", "tumbling", "hopping", "sliding", "session", "unlimited")
    ],
    "aggregate_table": ["count", "reduce", "aggregate"],
    "cogroup": ["", "tumbling", "hopping", "sliding", "session", "unlimited"],
}  # fmt: skip
# One entry per kind; a step with many variants has several entries, which its variants share.
KINDS: list[tuple[str, str | None]] = [
    *[("stateless", kind) for kind in STEPS["stateless"]],
    *[("table_stateless", kind) for kind in STEPS["table_stateless"]],
    *[("aggregate_table", kind) for kind in STEPS["aggregate_table"]],
    *[("aggregate_stream", None)] * 6,
    *[("cogroup", None)] * 2,
    *[("join_ss", None)] * 2,
    *[("join_st", None)] * 2,
    ("join_global", None),
    *[("join_tt", None)] * 2,
    *[("join_fk", None)] * 2,
    *[("suppress", None)] * 2,
    ("split", None),
    ("merge", None),
    ("to_table", None),
    ("to_stream", None),
    ("repartition", None),
    *[("process", None)] * 5,
    ("through", None),
]
# Kinds that accept a table's updates like a stream.
TAKES_UPDATES = {
    "peek", "merge", "split", "process", "process_values", "sink.topic", "sink.print",
}  # fmt: skip
# The source that is added if a step finds no suitable input.
NEEDS: dict[str, SourceRole] = {
    "join_global": "global_table",
    "join_fk": "table",
    "join_tt": "table",
    "join_st": "table",
    "aggregate_table": "table",
    "table_stateless": "table",
    "join_ss": "stream",
    "cogroup": "stream",
    "merge": "stream",
    "split": "stream",
    "process": "stream",
}


class Wide(Several):
    """One random scenario of the wider generator."""

    def __init__(self, rng: random.Random, name: str) -> None:
        #: the kind, and the window, that the next step draws
        self.wanted: str | None = None
        self.wanted_window: str | None = None
        self.bad_bytes = rng.random() < 0.06
        self.settings: DocumentSettings = {}
        if self.bad_bytes or rng.random() < 0.1:
            self.settings["deserialization_handler"] = rng.choice(["continue", "dead_letter"])
        if rng.random() < 0.3:
            self.settings["processing_handler"] = rng.choice(["continue", "dead_letter"])
        if "dead_letter" in self.settings.values():
            self.settings["dead_letter_topic"] = "dead"
        if rng.random() < 0.05:
            self.settings["processing_guarantee"] = "exactly_once"
        #: clocks of schedules, and classes of processors by node
        self.clocks: set[str] = set()
        self.twins: dict[str, str] = {}
        #: topics that are both written and read
        self.loops = 0
        #: updates of tables without a node
        self.implied: list[Out] = []
        #: history retention of versioned tables by node
        self.versions: dict[str, int] = {}
        # Each task has its own stream time. The oracle has a single task, Kafka Streams one per
        # sub-topology, so stream-time schedules are drawn only if no record crosses a topic.
        self.ticks = rng.random() < 0.15
        super().__init__(rng, name)
        self.risky = "processing_handler" in self.settings and rng.random() < 0.7

    # ---- draws ---------------------------------------------------------------------------------

    def one(self, choices: Sequence[Choice], weights: Sequence[int] | None = None) -> Choice:
        for choice in choices:
            if choice == self.wanted:
                return choice
        return super().one(choices, weights)

    def pick_type(self) -> str:
        return self.r.choice(["STRING", "BIGINT", STRUCT, "DOUBLE", "BOOLEAN"])

    def env(self, o: Out) -> Columns:
        e: Columns = {"key": ("windowed", o.key) if o.window else o.key, "value": o.value}
        if o.role == "stream":
            for text, type_, chance in (
                ("unix_millis(timestamp)", "BIGINT", 0.08),
                ("CAST(headers['h'] AS STRING)", "STRING", 0.1),
                ("topic", "STRING", 0.05),
                ("CAST(partition AS BIGINT)", "BIGINT", 0.03),
                ("offset", "BIGINT", 0.05),
            ):
                if self.r.random() < chance:
                    e[text] = type_
        return e

    def length(self, ms: int) -> int | str:
        """A duration, sometimes as text."""
        return f"{ms} ms" if self.r.random() < 0.1 else ms

    # ---- sources -------------------------------------------------------------------------------

    def source(self, role: SourceRole, key: str | None = None, value: str | None = None) -> Out:
        r = self.r
        topic = f"t{len(self.topics) + 1}"
        values = ["STRING", "STRING", "BIGINT", "BIGINT", STRUCT, STRUCT, "DOUBLE", "BOOLEAN"]
        value = value or r.choice(values)
        key = key or ("BIGINT" if r.random() < 0.1 else "STRING")
        formats = [FORMATS[key], FORMATS[value]]
        for place, type_ in enumerate((key, value)):
            if type_ in ("BIGINT", "DOUBLE", "BOOLEAN") and r.random() < 0.15:
                formats[place] = {"format": "json", "schema": type_}
        raw = self.bad_bytes or "dead_letter_topic" in self.settings
        if value == STRUCT and not raw and r.random() < 0.2:
            formats[1] = r.choice([AVRO, PROTOBUF])
        params: Params = {"key": formats[0], "value": formats[1]}
        topics = [topic]
        if role == "stream" and r.random() < 0.12:
            topics.append(topic + "b")
        for each in topics:
            self.topics[each] = (role, key, value)
        if role != "stream":
            params["topic"] = topic
        elif r.random() < 0.1:
            params["topic_pattern"] = f"{topic}b?"
        else:
            params["topics"] = topics
        if role != "global_table" and r.random() < 0.15 and not self.bad_bytes:
            number = {"BIGINT": "value", STRUCT: "value.n"}.get(value)
            params["timestamp"] = (
                r.choice([f"{number} * 5", f"unix_millis(timestamp) + {number}"])
                if number and r.random() < 0.7
                else r.choice(["unix_millis(timestamp) - 5", "timestamp"])
            )
            params["invalid_timestamp"] = r.choice(["skip", "skip", "partition_time", "fail"])
        if r.random() < 0.05 and role != "global_table":
            params["start"] = r.choice(["earliest", "latest"])
        name = self.node(f"source.{role}", params, [])
        o = Out(
            name, "global" if role == "global_table" else role, key, value, topics=frozenset(topics)
        )
        if role == "table":
            if r.random() < 0.25:
                o.versioned = r.choice([20, 1000])
                self.store("store.versioned", name, {"history_retention": o.versioned}, 1.0)
            else:
                self.store("store.key_value", name)
        elif role == "global_table":
            self.store("store.key_value", name)
        self.outs.append(o)
        if role == "stream" and r.random() < 0.06:  # Read the same topic with a second source.
            again = self.node("source.stream", dict(params), [])
            self.outs.append(Out(again, "stream", key, value, topics=frozenset(topics)))
        return o

    def store(
        self, kind: str, target: str, params: Params | None = None, chance: float = 0.3
    ) -> None:
        params = dict(params or {})
        owner = next(n for n in self.nodes if n["id"] == target)
        window = owner["params"].get("window")
        if (
            kind == "store.key_value"
            and not owner["kind"].startswith("source.")
            and self.r.random() < 0.2
        ):
            kind, params = "store.versioned", {"history_retention": self.r.choice([20, 1000])}
        if window and self.r.random() < 0.4:
            sizes: dict[str, Callable[[], int | None]] = {
                "tumbling": lambda: int(window["size"]),
                "hopping": lambda: int(window["size"]),
                "sliding": lambda: 2 * int(window["difference"]),
                "session": lambda: int(window["gap"]),
                "unlimited": lambda: None,
            }
            size = sizes[window["type"]]()
            if size is not None:
                params["retention"] = size + window["grace"] + self.r.choice([0, 1, 20])
        if self.r.random() < 0.1:
            params["logging"] = False
        if self.r.random() < 0.1 and kind != "store.versioned":
            params["caching"] = True
        had = len(self.nodes)
        super().store(kind, target, params, chance)
        if kind == "store.versioned" and len(self.nodes) > had:
            self.versions[target] = params["history_retention"]

    # ---- the graph -----------------------------------------------------------------------------

    def add(self, o: Out) -> None:
        if o.role == "table":
            o.versioned = self.versions.get(o.node, o.versioned)
        super().add(o)

    def node(self, kind: str, params: Params, ins: Ins, name: str | None = None) -> str:
        if kind not in TAKES_UPDATES:
            for o, _ in ins:
                self.to_stream_before(o)
        return super().node(kind, params, ins, name)

    def to_stream(self) -> None:
        """A table's updates, sometimes without a node, since several kinds accept tables."""
        if self.r.random() < 0.5:
            super().to_stream()
            return
        o = self.choose(lambda o: o.role == "table")
        if o:
            updates = o.like(o.node, port=o.port, role="stream", versioned=0)
            self.implied.append(updates)
            self.add(updates)

    def to_stream_before(self, o: Out) -> None:
        """Insert a `to_stream` before a kind that does not accept tables."""
        if o in self.implied:
            self.implied.remove(o)
            table = o.like(o.node, port=o.port)
            o.node, o.port = super().node("to_stream", {}, [(table, "in")]), "out"

    def build(self) -> None:
        r = self.r
        first: SourceRole = r.choice(["stream", "stream", "table"])
        for attempt in range(6):
            self.nodes, self.edges, self.outs, self.topics = [], [], [], {}
            self.serial, self.clocks, self.twins, self.loops = {}, set(), {}, 0
            self.implied, self.versions = [], {}
            self.compare, self.each_only = "sequence", False
            if attempt == 5:
                self.ticks = False
            self.draw(first)
            crossed = any(o.hops for o in self.outs) or self.loops
            if "stream" not in self.clocks or not crossed:
                break
        self.sinks()
        self.drop_unused()

    def draw(self, first: SourceRole) -> None:
        """Draw sources and steps."""
        r = self.r
        self.source(first)
        while r.random() < 0.65 and len(self.topics) < 4:
            self.source(r.choice(["stream", "stream", "table", "table", "global_table"]))
        want, tries = r.randint(2, 10), 0
        while self.size() < want and tries < 60:
            tries += 1
            step, self.wanted = r.choice(KINDS)
            if self.wanted is None and step in ("aggregate_stream", "cogroup"):
                kind, _, window = r.choice(STEPS["aggregate_stream"]).partition("@")
                self.wanted, self.wanted_window = kind, window
            had = len(self.nodes)
            getattr(self, step)()
            if len(self.nodes) == had and step in NEEDS and len(self.topics) < 6:
                self.source(NEEDS[step])
                getattr(self, step)()
            self.wanted = None

    def size(self) -> int:
        """The number of steps."""
        return sum(not n["kind"].startswith(("store.", "source.")) for n in self.nodes)

    def window(self) -> tuple[str, Params, int, int]:
        was, self.wanted = self.wanted, self.wanted_window or None
        made = super().window()
        self.wanted = was
        return made

    def drop_unused(self) -> None:
        """Remove global tables without joins."""
        for o in list(self.outs):
            if o.role == "global" and o.used == 0:
                self.outs.remove(o)
                stores = {e["source"] for e in self.edges if e["target"] == o.node}
                self.nodes = [n for n in self.nodes if n["id"] not in {o.node, *stores}]
                self.edges = [e for e in self.edges if e["target"] != o.node]
                self.topics = {t: v for t, v in self.topics.items() if t not in o.topics}

    def sinks(self) -> None:
        """Add sinks for outputs that nothing reads, and a few others."""
        r, count = self.r, 0
        for o in list(self.outs):
            if o.role == "global" or not (o.used == 0 or r.random() < 0.1):
                continue
            count += 1
            params: Params = {"topic": f"out{count}"}
            draw = r.random()
            if o.role == "stream" and draw < 0.12:
                del params["topic"]
                text = self.expr("BOOLEAN", self.env(o), 1)
                params["topic_expression"] = (
                    f"concat('out{count}-', coalesce(key, 'none'))"
                    if o.key == "STRING" and not o.window and draw < 0.06
                    else f"CASE WHEN {text} THEN 'out{count}' ELSE 'out{count}-else' END"
                )
            elif draw < 0.2:
                params["partition"] = "0"
            if r.random() < 0.12:
                params["value"] = {"format": "json"}
            elif o.value == STRUCT and r.random() < 0.2:
                params["value"] = AVRO
            if r.random() < 0.06 and not o.window:
                params["key"] = {"format": "json"}
            into = [(o, "in")]
            if o.role == "stream" and r.random() < 0.1:
                other = self._beside(o)
                if other:
                    into.append((other, "in"))
            kind = "sink.topic"
            if o.role == "stream" and r.random() < 0.04:
                kind, params = "sink.print", {"label": "seen"}
            self.node(kind, params, into, f"sink{count}")

    def _beside(self, o: Out) -> Out | None:
        """Another stream with the same types, if no record crosses an internal topic."""
        return self.choose(
            lambda x: (
                x is not o and x.role == "stream" and not x.hops and not o.hops
                and (x.key, x.value, x.window) == (o.key, o.value, o.window)
            )
        )  # fmt: skip

    # ---- steps that only this generator has ----------------------------------------------------

    def through(self) -> None:
        """A topic that the document both writes and reads: the test driver loops immediately."""
        o = self.choose(
            lambda o: o.role == "stream" and not o.window and not o.unordered and o.key == "STRING"
        )
        if not o or self.loops or o.hops:
            return
        self.loops += 1
        topic = "loop1"
        self.node("sink.topic", {"topic": topic}, [(o, "in")], f"to-{topic}")
        params: Params = {"topics": [topic], "key": FORMATS[o.key], "value": FORMATS[o.value]}
        name = self.node("source.stream", params, [], f"from-{topic}")
        self.add(Out(name, "stream", o.key, o.value, topics=o.topics, hops=o.hops + 1))

    def repartition(self) -> None:
        had = len(self.nodes)
        super().repartition()
        for node in [n for n in self.nodes[had:] if n["kind"] == "repartition"]:
            if self.r.random() < 0.3:
                node["params"]["name"] = f"by-{node['id']}"
            if self.r.random() < 0.2:
                node["params"]["partitions"] = 1

    def suppress(self) -> None:
        r = self.r
        o = self.choose(lambda o: o.role == "table" and not o.versioned and not o.final)
        if not o:
            return
        if o.window and o.window != "unlimited" and r.random() < 0.75:
            params: Params = {"until": "window_closes"}
            if r.random() < 0.1:
                params["max_records"] = r.choice([2, 5, 20])
            elif r.random() < 0.1:
                params["max_bytes"] = r.choice([200, 2000])
            if "max_records" in params and r.random() < 0.5:
                params["when_full"] = "fail"
        elif o.unordered:
            return
        else:
            params = {"until": "time_limit", "limit": self.length(r.choice([0, 2, 5, 10, 20]))}
            if r.random() < 0.3:
                params.update({"max_records": r.choice([1, 2, 3]), "when_full": "emit"})
            elif r.random() < 0.3:
                params["max_bytes"] = r.choice([60, 100, 150, 250])
            elif r.random() < 0.1:
                params.update({"max_records": r.choice([2, 4]), "when_full": "fail"})
        node = self.node("suppress", params, [(o, "in")])
        self.add(o.like(node, final=True, unordered=o.unordered))

    def join_fk(self) -> None:
        # After a repartition, an update of the left table races with the response to the previous
        # one, and equal timestamps in several internal topics have no defined order.
        outs, self.outs = self.outs, [o for o in self.outs if o.hops == 0]
        had = len(self.outs)
        super().join_fk()
        self.outs = outs + self.outs[had:]

    def join_ss(self) -> None:
        had = len(self.nodes)
        super().join_ss()
        for node in self.nodes[had:]:
            if node["kind"] == "join.stream_stream":
                for part in ("before", "after", "grace"):
                    node["params"][part] = self.length(node["params"][part])

    # ---- inputs --------------------------------------------------------------------------------

    def value(self, role: SourceRole, t: str) -> object:
        r = self.r
        if t in ("DOUBLE", "BOOLEAN") and r.random() >= 0.1:
            return r.choice([True, False]) if t == "BOOLEAN" else r.randint(-4, 9) + 0.5
        if t == "STRING" and r.random() < 0.1:
            return r.choice(["!a", "a b", "b,c", "", " a", "é", "a b A"])
        return None if t in ("DOUBLE", "BOOLEAN") else super().value(role, t)

    def inputs(self) -> tuple[list[InputLine], bool]:
        r = self.r
        lines, ordered = super().inputs()
        made: list[InputLine] = []
        for line in lines:
            if r.random() < 0.05:
                line["headers"] = {"h": r.choice(["u", None]), "other": "w"}
            if self.bad_bytes and r.random() < 0.1 and self.topics[line["topic"]][2] != "STRING":
                del line["value"]
                line["value_bytes"] = r.choice(["AA==", "eyJn", ""])
            made.append(line)
            if "wall" in self.clocks and r.random() < 0.15:
                made.append({"advance_wall_clock": r.choice([1, 10, 25])})
        if r.random() < 0.05:
            made.insert(r.randint(1, len(made) - 1), {"restart": True})
        return made, ordered

    def json(self) -> ScenarioJson:
        made = super().json()
        made["topology"].pop("settings", None)
        if self.settings:
            made["topology"]["settings"] = self.settings
        if self.twins:
            made["oracle_processors"] = self.twins
        if self.loops:
            made["cuts"] = ["each"]
        return made
