"""``join.foreign_key``: joins a table with the rows of another one to which its values refer."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.calls import Call
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle, Keeps, Link, Partitions, Reads, Writes
from millrace_compiler.operators.joins.base import INNER_LEFT, TYPE_HELP, Join
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.parameters.parameters import Choice, Expression, Name, optional
from millrace_compiler.parameters.summaries import Sentence


class JoinForeignKey(Join, Calling):
    "Joins each row of a table with the row of another table that it refers to."

    kind = "join.foreign_key"
    title = "Join by foreign key"
    icon = "table-shortcut"
    place = 5
    help = (
        "An expression over the left row returns the key of the right row. Updates on both sides "
        "update the result: a right row updates every left row that refers to it [FK4]. Uses two "
        "internal topics."
    )
    guarantee = "Updates of both sides update the result; outdated responses are dropped [FK]."
    why = "Spark has no foreign-key join of changing tables."
    synonyms = ("reference", "many to one", "relation", "外键", "关联")
    rules = ("FK1", "FK2", "FK3", "FK4", "FK5", "FK6", "FK7", "FK8")
    in_ports = (InPort("left", ("table",)), InPort("right", ("table",)))
    out_ports = (OutPort("out", "table"),)
    takes_store = ("store.key_value", "store.versioned")
    unnamed_store = "on_demand"
    first = ("type", "foreign_key", "joiner")
    stateful = True
    makes_records = True

    type = Choice("Type", TYPE_HELP, INNER_LEFT, default="inner")
    foreign_key = Expression(
        "Foreign key",
        ("The key of the right row, an expression over the left `key` and `value`."),
        columns="row",
    )

    repartition = optional(
        Name(
            "Internal topics",
            "Name of the internal topics without “-subscription-registration-topic” and "
            "“-subscription-response-topic”, as with TableJoined.as. Default: the node's id.",
        )
    )

    def infer(self, scope: Scope) -> Inference:
        left, right = scope.one("left"), scope.one("right")
        columns = (("key", left.key), ("value", left.value))
        _, value = yield [
            scope.ask("foreign_key", self.foreign_key, columns, right.key),
            self.ask_joiner(scope, left, right),
        ]
        out = Port("table", left.key, value, False, left.window, left.inner_key, self.history)
        check_store(scope, self.takes_store, out)
        return {"out": out}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        left, [(right, table)] = to.input("left"), to.inputs("right")
        to.materialize(left)
        asking = f"{self.id}-subscription-registration"
        answering = f"{self.id}-subscription-response"
        asked, answered = f"{asking}-topic", f"{answering}-topic"
        asks, answers = to.graph.names.topic(asked), to.graph.names.topic(answered)
        subscribe = to.step(
            "foreign_key_subscribe",
            left,
            id=asking,
            foreign_key=self.foreign_key,
            key_type=table.key.text if table.key else None,
            type=self.type,
            partitions=Partitions(asks),
            topic=to.other(asks, asked),
            writes=Writes(asks, repartition=True),
        )
        lookup = to.step(
            "foreign_key_lookup",
            Link(subscribe, "hop"),
            to.lookup(right),
            id=answering,
            type=self.type,
            partitions=Partitions(answers),
            topic=to.other(answers, answered),
            reads=Reads((asks,)),
            writes=Writes(answers, repartition=True),
            keeps=Keeps((f"{self.id}-subscription-store",)),
        )
        to.topic(asks, subscribe.step, lookup.step)
        to.together(right, lookup)
        handle = to.step(
            "foreign_key_resolve",
            Link(lookup, "hop"),
            left,
            type=self.type,
            joiner=self.joiner,
            store=self.store_json(),
            role="table",
            reads=Reads((answers,)),
            keeps=self.keeps(),
        )
        to.topic(answers, lookup.step, handle.step)
        to.together(left, handle)
        to.shuffled("left")
        return {"out": handle}

    def words(self) -> list[Call]:
        return self.joining(foreign_key=self.foreign_key, repartition=self.repartition)

    def summary(self) -> Sentence:
        return Sentence("{type} join by {key}", type=self.type, key=self.foreign_key)
