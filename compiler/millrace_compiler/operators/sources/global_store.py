"""``source.global_store``: a store that a processor fills from a topic, whole on every task."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, Processor, call, format_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope, no_questions
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.processors.base import check_class, check_own_stores
from millrace_compiler.operators.sources.base import Source, source_step
from millrace_compiler.parameters.parameters import Text, Topic
from millrace_compiler.parameters.parts import Arguments, Code
from millrace_compiler.parameters.summaries import Sentence


class SourceGlobalStore(Source):
    "Reads a topic with a Python class that keeps its contents in a store on every task."

    kind = "source.global_store"
    title = "Global store from a topic"
    icon = "world-code"
    place = 4
    help = (
        "A class with a process method gets each record of the topic and writes the connected "
        "store, as with Kafka Streams' addGlobalStore. Every task has the whole store, and any "
        "processor can read it: connect the store to it. The class cannot forward records or "
        "schedule punctuations, and is not synchronized with stream time [GK2]."
    )
    guarantee = "All records in every task; not synchronized with stream time [GK2]."
    why = "A broadcast in Spark is read once; a global store follows its topic."
    synonyms = ("addglobalstore", "globalktable", "broadcast", "dimension", "lookup", "全局存储")
    topic_parameters = ("topic",)
    rules = ("GK2", "PA2")
    first = ("topic", "key", "value", "code", "class_name", "arguments")
    takes_store = ("store.key_value", "store.window", "store.session", "store.versioned")
    stateful = True
    runs_python = True
    reads_whole_topic = True

    topic = Topic("Topic", "The topic to read.")
    code = Code("Code", "Python source of the class. Processor and Record need no import.")
    class_name = Text("Class", "Name of the class in the code.")
    arguments = Arguments(
        "Arguments", "Values that the class is created with, by name, as JSON.", default={}
    )

    def check(self, report: Diagnostics) -> None:
        check_class(self, self.code, self.class_name, self.arguments, report)

    def topic_names(self) -> tuple[str, ...]:
        return (self.topic,)

    def infer(self, scope: Scope) -> Inference:
        if self.store is None:
            scope.fault("store_missing", "store")
        check_own_stores(scope)
        return no_questions({})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        where = {"topic": self.topic}
        params = {
            "code": self.code,
            "class_name": self.class_name,
            "arguments": self.arguments or None,
            "stores": [store.to_json() for store in self.own_stores],
        }
        return {"out": source_step(to, self, "global_store", "global_table", where, params)}

    def words(self) -> list[Call]:
        return [
            call(
                "add_global_store",
                self.topic,
                self.store,
                Processor(self.code, self.class_name, self.arguments),
                key=format_words(self.key),
                value=format_words(self.value),
            )
        ]

    def summary(self) -> Sentence:
        form = "{topic} · {class_name} on all records on every task"
        return Sentence(form, class_name=self.class_name, topic=self.topic)
