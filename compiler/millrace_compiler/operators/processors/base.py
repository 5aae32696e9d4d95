"""The base class of processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from millrace_compiler.declarations.calls import Call, Input, Processor, call, parts
from millrace_compiler.declarations.functions import REKEYING, RESULTS, Called, called_function
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import InPort, Port
from millrace_compiler.declarations.steps import Handle, Keeps
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.code_stores import stores_asked
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.operators.tables.updates import same_keys, same_types, updates
from millrace_compiler.parameters.parameters import Text
from millrace_compiler.parameters.parts import (
    Arguments,
    Code,
    MethodNames,
    OutputTypesOf,
    PortNames,
    classes_in,
    methods_of,
    signature_of,
)
from millrace_compiler.parameters.summaries import Sentence

TEMPLATE = """class Forward(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)
"""


class ProcessorNode(Operator):
    """Base class of operators that run the user's Python class for each record."""

    guarantee = (
        "The class gets one record at a time, in order; stores and punctuations are exact [PA2]."
    )
    why = (
        "Spark's Python state API gets the rows of a key in a batch, without order or stream time."
    )
    in_ports = (InPort("in", ("stream", "table"), many=True),)
    dynamic_inputs = "inputs"
    dynamic_outputs = "outputs"
    takes_store = ("store.key_value", "store.window", "store.session", "store.versioned")
    many_stores = True
    stateful = True
    reads_clock = True
    runs_python = True
    has_effects = True
    #: Whether the processor may change the key.
    rekeys: ClassVar[bool] = True

    code = Code("Code", "Python source of the class. Processor and Record need no import.")
    class_name = Text("Class", "Name of the class in the code.")
    arguments = Arguments(
        "Arguments", "Values that the class is created with, by name, as JSON.", default={}
    )
    output = OutputTypesOf(
        "Output types",
        ("Spark SQL types of the forwarded key and value. Default: the input's types."),
    )
    outputs_ = PortNames("Output ports", "Names of the output ports.", default=["out"])
    inputs_ = MethodNames(
        "Input ports",
        "Names of further input ports, whose records may have other types: for each, the class "
        "has a method of that name, which gets them in place of process.",
        default=[],
    )

    def check(self, report: Diagnostics) -> None:
        check_class(self, self.code, self.class_name, self.arguments, report)
        methods = methods_of(self.code, self.class_name) if self.code else None
        for name in self.inputs_:
            if methods is not None and name not in methods:
                self.fault(
                    report, "method_missing", "inputs", name=name, class_name=self.class_name
                )

    def inputs(self) -> tuple[InPort, ...]:
        first = self.in_ports[0]
        return (first, *(InPort(name, first.roles, many=True) for name in self.inputs_))

    def outputs(self) -> tuple[str, ...]:
        return self.outputs_

    def infer(self, scope: Scope) -> Inference:
        ports = [updates(port) for port in scope.all()]
        same_types(scope, ports)
        first = ports[0]
        changed = any(port.key_changed for port in ports)
        for name in self.inputs_:
            others = [updates(port) for port in scope.all(name)]
            same_types(scope, others, name)
            changed = changed or any(port.key_changed for port in others)
            if not self.rekeys:
                same_keys(scope, first, others[0], name)
        output = self.output
        self._check_stores(scope)
        self._check_names(scope)
        value = output.value or (None if output.broken else first.value)
        if self.rekeys:
            key = output.key or (None if output.broken else first.key)
            out = Port("stream", key, value, key_changed=True)
        else:
            if output.key and first.key and output.key != first.key:
                found, needed = output.key.text, first.key.text
                scope.fault("process_values_key", "output", ".key", found=found, needed=needed)
            out = replace(first, value=value, key_changed=changed)
        return no_questions(dict.fromkeys(self.outputs(), out))

    def _check_stores(self, scope: Scope) -> None:
        self._check_reads(scope)
        check_own_stores(scope)

    def _check_reads(self, scope: Scope) -> None:
        """Checks that what it reads has a store, and that no two stores have the same name."""
        names = {store.store_name(): store.id for store in self.own_stores}
        for owner in self.read_tables:
            name = owner.own_store_name
            first = names.setdefault(name, owner.id)
            if first != owner.id:
                scope.fault("store_name_twice", "store", name=name, other=first)
            port = scope.tables.get(owner.id)
            if port is not None and port.role == "stream":
                scope.fault("store_of_stream", "store", owner=owner.id)
            elif port is not None and not owner.store and owner.unnamed_store == "never":
                scope.fault("store_none", "store", owner=owner.id)

    def _check_names(self, scope: Scope) -> None:
        """Reports names in the code of stores that are not connected to this node."""
        known = [store.store_name() for store in self.own_stores]
        known += [owner.own_store_name for owner in self.read_tables]
        for asked in stores_asked(self.code, self.class_name) if self.code else ():
            if asked.name not in known:
                scope.report.add(
                    "code_store",
                    self.id,
                    "code",
                    position=asked.position,
                    store=asked.name,
                    line=asked.line,
                    guess=guess(asked.name, known),
                    stores=", ".join(known) or "none",
                )

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        streams = [to.merged(port.name) for port in self.inputs()]
        out = to.out(self.outputs()[0])
        made = to.step(
            self.kind,
            *streams,
            keeps=Keeps(tuple(store.store_name() for store in self.own_stores), shared=True),
            stores_read={
                owner.own_store_name: to.read_store(owner.id) for owner in self.read_tables
            },
            code=self.code,
            class_name=self.class_name,
            arguments=self.arguments or None,
            output={
                "key": out.key.text if out.key else "",
                "value": out.value.text if out.value else "",
            },
            outputs=list(self.outputs()),
            methods=["process", *self.inputs_] if self.inputs_ else None,
            stores=[store.to_json() for store in self.own_stores],
            changes="record" if self.rekeys else "value",
        )
        return {port: made.at(port) for port in self.outputs()}

    def words(self) -> list[Call]:
        output = self.raw("output")
        outputs = self.outputs()
        return [
            call(
                self.kind,
                Processor(self.code, self.class_name, self.arguments, self._called(output)),
                key_type=parts(output, "key"),
                value_type=parts(output, "value"),
                outputs=list(outputs) if outputs != ("out",) else None,
                stores=list(self.connected) or None,
                also=self._further() or None,
            )
        ]

    def _called(self, output: object) -> Called | None:
        """The function that the class only calls, if a program can show it in place of the class.

        The types must be those that a program gives such a function.
        """
        found = called_function(self.code, self.class_name)
        alone = not (self.connected or self.arguments or self._further())
        if found is None or not alone or self.outputs() != ("out",):
            return None
        rekeys = found.method in REKEYING
        given = {name for name in ("key", "value") if parts(output, name) is not None}
        return found if rekeys == self.rekeys and given == set(RESULTS[found.method]) else None

    def _further(self) -> list[Input] | dict[str, list[Input]]:
        """The inputs after the first one, by method if there are several methods."""
        more = [Input("in", index) for index in range(1, self.incoming["in"])]
        if not self.inputs_:
            return more
        found = {
            name: [Input(name, index) for index in range(self.incoming[name])]
            for name in self.inputs_
        }
        return {"process": more, **found} if more else found

    def summary(self) -> Sentence:
        names = [store.store_name() for store in self.own_stores]
        names += [owner.own_store_name for owner in self.read_tables]
        form = "{class_name} with {stores}" if names else "{class_name}"
        return Sentence(form, class_name=self.class_name, stores=", ".join(names))


def check_class(
    operator: Operator,
    code: str,
    class_name: str,
    arguments: Mapping[str, object],
    report: Diagnostics,
) -> None:
    """Reports a class that the code does not define, and arguments that do not fit it."""
    if not code or not isinstance(operator.node.params.get("class_name"), str):
        return
    found = classes_in(code)
    if class_name not in found:
        names = ", ".join(found) or "none"
        operator.fault(report, "code_class", "class_name", found=class_name, classes=names)
    signature = signature_of(code, class_name)
    if signature is None:
        return
    for name in arguments:
        if name not in signature.known:
            known = ", ".join(signature.known) or "none"
            operator.fault(
                report, "argument_unknown", "arguments", f".{name}", name=name, known=known,
                class_name=class_name, guess=guess(name, signature.known),
            )  # fmt: skip
    for name in signature.needed:
        if name not in arguments:
            operator.fault(
                report, "argument_missing", "arguments", name=name, class_name=class_name
            )


def check_own_stores(scope: Scope) -> None:
    """Checks the stores that an operator's Python code writes."""
    for store in scope.operator.own_stores:
        needed = store.for_processors if isinstance(store, StoreNode) else ()
        for parameter in needed:
            if store.node.params.get(parameter) is None:
                scope.report.add("store_needs", store.id, parameter, operator=scope.operator.id)
        retention, size = store.values.get("retention"), store.values.get("window_size")
        if isinstance(retention, int) and isinstance(size, int) and retention < size:
            scope.report.add(
                "retention",
                store.id,
                "retention",
                found=f"{retention} ms",
                needed=f"{size} ms",
                operator=scope.operator.id,
            )
