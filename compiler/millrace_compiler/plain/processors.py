"""Processors by `transformWithState`: a group is a task, a store is a map state."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import cast

from millrace_compiler.declarations.operator import Store
from millrace_compiler.operators.processors.base import ProcessorNode
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.plain.between import in_tasks
from millrace_compiler.plain.formats import as_numbers, has_time, sql_text, to_numbers, to_times
from millrace_compiler.plain.keeping import ORDERED, names_in
from millrace_compiler.plain.program import HEADERS, PLACE, Frame, Program, known
from millrace_compiler.plain.text import Call, Chain, Columns, Expr, Name, call
from millrace_compiler.program.classes import bound_names, is_plain, is_same, own_code
from millrace_compiler.types.types import DataType

_RANDOM = re.compile(r"\bcontext\s*\.\s*random\s*\(")
_TYPES = {
    "STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL",
    "BINARY", "STRUCT", "ARRAY", "MAP", "TIMESTAMP",
}  # fmt: skip
_READS_IN_ORDER = {"all", "range", "reverse_all", "reverse_range", "prefix_scan"}
_COLUMNS = ("headers", *PLACE)


def process(program: Program, node: ProcessorNode) -> Mapping[str, Frame]:
    """``process`` and ``process_values``: runs the class on the records of each partition."""
    _check(program, node)
    frames = [in_tasks(program, node, frame) for frame in program.merged(node)]
    if len(frames) > 1:
        program.differs("plain_order", node, what="the inputs")
    steps = [call("unionByName", Name(frame.variable)) for frame in frames[1:]]
    if any(frame.columns != frames[0].columns for frame in frames):
        columns = ("key", "value", "timestamp", *_COLUMNS)
        steps = [
            call("unionByName", Chain(Name(frame.variable), (call("select", *columns),)))
            for frame in frames[1:]
        ]
    key, value = known(frames[0].port.key), known(frames[0].port.value)
    out = program.port(node, node.outputs()[0])
    steps += [
        call("selectExpr", *_to_python(program, key, value), *PLACE),
        call("groupBy", "partition"),
        call(
            "transformWithState",
            _task(node),
            outputStructType=_schema(known(out.key), known(out.value)),
            outputMode="append",
            timeMode="none",
        ),
        call("withColumns", _from_python(program, known(out.key), known(out.value))),
    ]
    variable = program.assign(node, Chain(Name(frames[0].variable), tuple(steps)))
    program.differs("plain_packages", node)
    if _has_fields(node):
        program.differs("plain_processor_fields", node)
    if _reads_time(node) and _misses_records(program, node):
        program.differs("plain_stream_time", node)
    return _outputs(program, node, variable)


def _outputs(program: Program, node: ProcessorNode, variable: str) -> Mapping[str, Frame]:
    ports = node.outputs()
    found = {}
    for port in ports:
        name = variable
        if len(ports) > 1:
            rows = call("where", f"port IS NULL OR port = {sql_text(port)}")
            name = program.assign(node, Chain(Name(variable), (rows,)), port)
        found[port] = Frame(name, program.port(node, port), _COLUMNS, "append", True)
    return found


def _task(node: ProcessorNode) -> Call:
    keywords: dict[str, Expr] = {}
    if node.outputs() != ("out",):
        names = node.outputs()
        keywords["outputs"] = call("", *names) if len(names) > 1 else Name(f"({names[0]!r},)")
    if node.stores:
        keywords["stores"] = Columns(
            tuple(
                (store.store_name(), call("", *(t.text for t in _types(store))))
                for store in node.stores
            )
        )
    if not node.rekeys:
        keywords["keeps_key"] = Name("True")
    if node.arguments:
        keywords["arguments"] = Name(repr(node.arguments))
    return call("Task", Name(node.class_name), **keywords)


def _types(store: Store) -> tuple[DataType, DataType]:
    stored = cast(StoreNode, store)
    return known(stored.key_type), known(stored.value_type)


# ---- columns ------------------------------------------------------------------------------------


def _to_python(program: Program, key: DataType, value: DataType) -> list[str]:
    columns = [
        f"{to_numbers(name, type_)} AS {name}" if has_time(type_) else name
        for name, type_ in (("key", key), ("value", value))
    ]
    headers = "map_entries(headers) AS headers" if "headers" in program.metadata else "headers"
    return [*columns, "unix_millis(timestamp) AS timestamp", headers]


def _schema(key: DataType, value: DataType) -> str:
    place = "offset BIGINT, partition INT, topic STRING"
    return (
        f"port STRING, key {as_numbers(key).text}, value {as_numbers(value).text}, "
        f"timestamp BIGINT, headers {HEADERS}, {place}"
    )


def _from_python(program: Program, key: DataType, value: DataType) -> Columns:
    columns: list[tuple[str, Expr]] = [
        (name, call("F.expr", to_times(name, type_)))
        for name, type_ in (("key", key), ("value", value))
        if has_time(type_)
    ]
    columns.append(("timestamp", call("F.timestamp_millis", "timestamp")))
    if "headers" in program.metadata:
        columns.append(("headers", call("F.map_from_entries", "headers")))
    return Columns(tuple(columns))


# ---- refusals -----------------------------------------------------------------------------------


def _check(program: Program, node: ProcessorNode) -> None:
    words = _words(node.code)
    if words & {"WALL_CLOCK_TIME", "current_system_time"}:
        reason = "Spark's processing-time timers fire between micro-batches, and only after the "
        raise _refused(program, node, "code", f"{reason}first record of a partition")
    if "processing_time" in words or _RANDOM.search(node.code):
        reason = "random values and the processing time differ when a record is processed again"
        raise _refused(program, node, "code", reason)
    if "start_time" in words:
        raise _refused(program, node, "code", "schedules begin with the first record")
    if "task_id" in words:
        raise _refused(program, node, "code", "tasks have no id")
    port = program.inputs(node)[0].port
    out = program.port(node, node.outputs()[0])
    for type_ in (port.key, port.value, out.key, out.value):
        if not names_in(known(type_)) <= _TYPES:
            raise _refused(program, node, "output", f"Python has no type for {known(type_).text}")
    if node.inputs_:
        raise _refused(program, node, "inputs", "the rows of a group have one type")
    for owner in node.read_tables:
        reason = f"a stateful step cannot read the state of another one, here of {owner.id}"
        raise _refused(program, node, "store", reason)
    for store in node.stores:
        _check_store(program, node, store, words)
    _take_code(program, node)


def _check_store(program: Program, node: ProcessorNode, store: Store, words: set[str]) -> None:
    if store.kind != "store.key_value":
        raise _refused(program, node, "kind", f"Spark has no state such as {store.kind}")
    if store.values.get("headers"):
        raise _refused(program, node, "kind", "Spark's states have no headers")
    for other in program.graph.operators.values():
        if other is not node and any(each.id == store.id for each in other.stores):
            reason = f"a stateful step cannot share its state, but {store.store_name()} is shared"
            raise _refused(program, node, "kind", reason)
    key, value = _types(store)
    for type_ in (key, value):
        if not names_in(type_) <= _TYPES - {"TIMESTAMP"}:
            raise _refused(
                program, node, "kind", f"Python has no type for the store's {type_.text}"
            )
    if key.name not in ORDERED and words & _READS_IN_ORDER:
        raise _refused(program, node, "code", f"a store with keys of type {key.text} has no order")


def _take_code(program: Program, node: ProcessorNode) -> None:
    """Adds the unchanged class, once for all nodes that use it; raises if that is not possible."""
    code, name = node.code, node.class_name
    if (code, name) in program.code:
        return
    whole = own_code(code, name)
    shown = all(letter.isprintable() or letter == "\n" for letter in code)
    if whole is None or not is_same(whole, code) or not is_plain(code) or not shown:
        raise _refused(program, node, "code", "the class needs its own module")
    taken = set().union(*(bound_names(other) for other, _ in program.code if other != code))
    clash = sorted(bound_names(code) & (taken | program.reserved))
    if clash:
        raise _refused(program, node, "code", f"the program already defines {clash[0]}")
    program.code.append((code, name))


def _refused(program: Program, node: ProcessorNode, parameter: str, reason: str) -> Exception:
    return program.refuse("plain_processor", node, parameter, reason=reason)


# ---- analysis of the code -----------------------------------------------------------------------


def _words(code: str) -> set[str]:
    found: set[str] = set()
    for item in ast.walk(ast.parse(code)):
        if isinstance(item, ast.Name):
            found.add(item.id)
        elif isinstance(item, ast.Attribute):
            found.add(item.attr)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            found.add(item.value)
    return found


def _reads_time(node: ProcessorNode) -> bool:
    return bool(_words(node.code) & {"schedule", "current_stream_time"})


def _misses_records(program: Program, node: ProcessorNode) -> bool:
    """Whether the task may read records that do not reach a node."""
    graph = program.graph
    before, waiting = {node.id}, [node.id]
    while waiting:
        for edge in (edge for edges in graph.inputs[waiting.pop()].values() for edge in edges):
            if not graph.operators[edge.source].forwards_all:
                return True
            if edge.source not in before:
                before.add(edge.source)
                waiting.append(edge.source)
    # The same task also reads other sources that are connected to these steps.
    beside, waiting = set(before), list(before)
    while waiting:
        id_ = waiting.pop()
        others = [edge.target for edge in graph.outgoing[id_]]
        others += [edge.source for edges in graph.inputs[id_].values() for edge in edges]
        waiting += (found := set(others) - beside)
        beside |= found
    return any(graph.operators[id_].family == "sources" for id_ in beside - before)


def _has_fields(node: ProcessorNode) -> bool:
    """Whether an object of the class may have state that the next object lacks.

    Fields that only `init` sets, to its context, a store, a schedule or a constant, are safe, as
    are schedules that only `init` creates and that are never canceled.
    """
    [class_] = [
        item for item in ast.parse(node.code).body
        if isinstance(item, ast.ClassDef) and item.name == node.class_name
    ][-1:]  # fmt: skip
    if [base.id for base in class_.bases if isinstance(base, ast.Name)] != ["Processor"]:
        return True
    for method in class_.body:
        if isinstance(method, ast.FunctionDef):
            if method.name == "init":
                if not all(_is_setting(statement) for statement in method.body):
                    return True
            elif any(_keeps(item) for item in ast.walk(method)):
                return True
        elif not isinstance(method, ast.Expr):
            return True
    return False


def _is_setting(statement: ast.stmt) -> bool:
    """Whether it is `self.x = context`, `= context.store(…)`, `= 3`, or `context.schedule(…)`."""
    match statement:
        case ast.Expr(value=value) | ast.Assign(targets=[ast.Attribute()], value=value):
            match value:
                case ast.Constant() | ast.Name():
                    return True
                case ast.Call(func=ast.Attribute(attr="store" | "schedule")):
                    return True
    return isinstance(statement, ast.Pass)


def _keeps(item: ast.AST) -> bool:
    if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store | ast.Del):
        return True
    if isinstance(item, ast.Attribute) and item.attr in ("cancel", "schedule"):
        return True
    return isinstance(item, ast.Global | ast.Nonlocal)
