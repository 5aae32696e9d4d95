"""``cogroup``: combines several streams into one aggregate."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, Chain, Input, call, window_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import InPort, Port
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.aggregations.base import (
    Folding,
    aggregate_columns,
    by_window,
    grouped,
)
from millrace_compiler.operators.tables.updates import same_keys
from millrace_compiler.parameters.parameters import Choice
from millrace_compiler.parameters.parts import CogroupInputs
from millrace_compiler.parameters.summaries import Sentence


class Cogroup(Folding):
    "Combines several streams with the same key into one aggregate."

    kind = "cogroup"
    title = "Cogroup"
    icon = "arrows-join-2"
    place = 4
    help = (
        "Each input has its own aggregator; they share initializer, store and result [AG5]. The "
        "inputs must have the same key type and be co-partitioned [RP4]."
    )
    guarantee = "One aggregate, updated by all inputs in record order [AG5]."
    why = "Spark's cogroup gets the whole micro-batch of each side, without their common order."
    synonyms = ("combine", "co-group", "multi aggregate", "profile", "联合聚合")
    rules = ("AG5", "RP1", "RP4")
    dynamic_inputs = "inputs"
    first = ("type", "initializer", "inputs", "merger", "window")

    inputs_ = CogroupInputs("Inputs", "Port, aggregator and optional grouping of each input.")
    emit = Choice(
        "Emit", "A cogroup emits every update.", ("every_update",), default="every_update"
    )

    @property
    def decides_versions(self) -> bool:
        # Kafka Streams leaves it open for windowed cogroups, unlike for other aggregations.
        return self.window is None

    def inputs(self) -> tuple[InPort, ...]:
        return tuple(InPort(item.port, ("stream",)) for item in self.inputs_)

    def infer(self, scope: Scope) -> Inference:
        items = self.inputs_
        grouped_by = [
            (index, item.group_by, scope.one(item.port))
            for index, item in enumerate(items)
            if item.group_by
        ]
        found = yield [
            scope.ask("inputs", by.key, port.record(), None, f"[{index}].group_by.key")
            for index, by, port in grouped_by
        ]
        rekeyed = {
            index: port.rekeyed(key, port.value)
            for (index, _, port), key in zip(grouped_by, found, strict=True)
        }
        ports = [rekeyed.get(i, scope.one(item.port)) for i, item in enumerate(items)]
        for port in ports[1:]:
            same_keys(scope, ports[0], port, "inputs")
        asks = [scope.ask("initializer", self.initializer, (), self.type)]
        for index, (item, port) in enumerate(zip(items, ports, strict=True)):
            columns = aggregate_columns(self.type, port.key, port.value)
            path = f"[{index}].aggregator"
            asks.append(scope.ask("inputs", item.aggregator, columns, self.type, path))
        key = ports[0] if ports else Port("stream", None, None)
        if self.merger:
            sides = (("key", key.key), ("left", self.type), ("right", self.type))
            asks.append(scope.ask("merger", self.merger, sides, self.type))
        yield asks
        return {"out": self.result(scope, key, self.type)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        streams = []
        for item in self.inputs_:
            key = item.group_by.key if item.group_by else None
            name = f"{self.id}-{item.port}"
            streams.append(grouped(to, to.input(item.port), key, name, item.port))
        # Kafka Streams requires co-partitioned inputs even if they are repartitioned afterwards.
        came = [to.input(item.port) for item in self.inputs_]
        to.together(*came, *streams, parameter="inputs")
        handle = to.step(
            "cogroup",
            *streams,
            aggregators=[item.aggregator for item in self.inputs_],
            type=self.type.text if self.type else "",
            initializer=self.initializer,
            merger=self.merger,
            window=self.window.to_step() if self.window else None,
            store=self.store_json(),
            role="table",
            keeps=self.keeps(),
        )
        return {"out": handle}

    def words(self) -> list[Call]:
        calls: list[Call] = []
        for index, item in enumerate(self.inputs_):
            key = [item.group_by.key] if item.group_by else []
            by = call("group_by" if key else "group_by_key", *key, repartition=item.repartition)
            if index == 0:
                calls += [by, call("cogroup", item.aggregator, port=item.port)]
            else:
                grouped_ = Chain(Input(item.port), (by,))
                calls.append(call("cogroup", grouped_, item.aggregator, port=item.port))
        if self.window:
            calls.append(call("windowed_by", window_words(self.window)))
        last = call("aggregate", self.raw("type"), initializer=self.initializer, merger=self.merger)
        return [*calls, self.with_store(last)]

    def summary(self) -> Sentence:
        ports = ", ".join(item.port for item in self.inputs_)
        return by_window(self.window, "{what} by key", what=ports)
