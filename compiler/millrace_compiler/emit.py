"""The job's text: one statement for each step, in blocks by sub-topology and level.

Statements are trees of :mod:`ast` with the document's values as constants; the text comes from
:mod:`millrace_compiler.layout`. Same document, same bytes.
"""

from __future__ import annotations

import ast
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_compiler.graph import Graph
from millrace_compiler.layout import WIDTH, block_text, layout
from millrace_compiler.lowering import Call, Constant, Handle, Partitions, Step
from millrace_compiler.names import Names, identifier
from millrace_compiler.plan import Plan, Subtopology

JOB_FILE = "job.py"
RUNTIME = "millrace_runtime"
_HELPERS = {"filter": "filter_", "map": "map_"}
_RECEIVING = ("repartitioned", "grouped_table")
_SUFFIXES = (("repartition_source", "repartitioned"), ("to_stream", "updates"))


@dataclass(frozen=True)
class Span:
    """Lines of a file that a node is responsible for; 1-based, inclusive."""

    node: str
    path: str
    start: int
    end: int

    def to_json(self) -> dict[str, object]:
        """As the compile endpoint shows it."""
        return {"node": self.node, "path": self.path, "start": self.start, "end": self.end}


@dataclass
class Emitted:
    """The text of the job and which lines belong to which node."""

    text: str
    spans: list[Span]


def emit_job(graph: Graph, plan: Plan, settings: Mapping[str, object]) -> Emitted:
    """The generated job."""
    return _Emitter(graph, plan, settings).run()


@dataclass
class _Lines:
    """Lines with the node they belong to, if any."""

    lines: list[str] = field(default_factory=list)
    owners: list[tuple[str, int, int]] = field(default_factory=list)

    def add(self, text: str, indent: int, *nodes: str) -> None:
        start = len(self.lines) + 1
        pad = " " * indent
        self.lines += [pad + text.split("\n", maxsplit=1)[0], *text.split("\n")[1:]]
        for node in nodes:
            self.owners.append((node, start, len(self.lines)))

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")


class _Emitter:
    def __init__(self, graph: Graph, plan: Plan, settings: Mapping[str, object]) -> None:
        self.graph, self.plan, self.settings = graph, plan, settings
        self.imports: set[str] = {"Job"}
        self.constants = _Lines()
        self.constant_names: dict[tuple[str, str], str] = {}
        self.body = _Lines()
        self.names = Names(self._reserved())
        self.variables: dict[str, str] = {}
        self.tasked: dict[str, str] = {}
        self.globals: dict[tuple[str, int, int], str] = {}
        self.uses = self._uses()
        self.ids = {step.id for step in plan.physical.steps.values()}
        self.ids |= {node.id for node in graph.document.nodes}
        self.also: dict[str, list[str]] = defaultdict(list)
        for second, first in plan.physical.aliases.items():
            self.also[first].append(second)
        self.bases: dict[str, str] = {}
        for node in graph.document.nodes:
            if node.id in plan.physical.node_steps:
                self.bases[node.id] = self.names.take(node.label or "", node.id)

    # ---- names ----------------------------------------------------------------------------

    @staticmethod
    def _reserved() -> set[str]:
        functions = {
            "avro", "boolean", "bytes_", "double", "filter_", "filter_not", "flat_map",
            "flat_map_values", "float_", "integer", "json", "key_value_store", "long", "map_",
            "map_values", "protobuf", "select_key", "session_store", "string", "versioned_store",
            "window_store",
        }  # fmt: skip
        return functions | {"Job", "job", "task", "topology"}

    def _uses(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = defaultdict(int)
        for step in self.plan.physical.steps.values():
            for handle, link in step.links:
                if link != "hop":
                    found[handle.step, handle.port] += 1
        return found

    def _used(self, step: Step) -> bool:
        return any(self.uses[step.id, port] for port in step.ports)

    def _variable(self, step: Step) -> str:
        if step.id not in self.variables:
            base = self.bases[step.node]
            if step.id == step.node:
                name = base
            else:
                rest = identifier(step.id.removeprefix(step.node)) or identifier(step.id)
                for old, new in _SUFFIXES:
                    rest = rest.replace(old, new)
                name = self.names.take(f"{base} {rest}")
            self.variables[step.id] = name
        return self.variables[step.id]

    # ---- the file ---------------------------------------------------------------------------

    def run(self) -> Emitted:
        for sub in self.plan.subtopologies:
            self._frames(sub)
        for level, sub in self._blocks():
            self._task(level, sub)
        self._children()
        file = _Lines()
        file.add(self._docstring(), 0)
        file.blank()
        file.add(self._import(), 0)
        if self.constants.lines:
            file.blank()
            self._append(file, self.constants)
        file.lines += ["", "", "def topology(job: Job) -> None:"]
        file.add(f'"""{self._doc_title()}"""', 4)
        self._append(file, self.body)
        file.lines += ["", "", 'if __name__ == "__main__":']
        file.add(self._main(), 4)
        spans = [Span(node, JOB_FILE, start, end) for node, start, end in file.owners]
        return Emitted("\n".join(file.lines) + "\n", _joined(spans))

    def _append(self, file: _Lines, part: _Lines) -> None:
        shift = len(file.lines)
        file.lines += part.lines
        file.owners += [(node, start + shift, end + shift) for node, start, end in part.owners]

    def _title(self) -> str:
        return _one_line(self.graph.document.name)

    def _doc_title(self) -> str:
        return _doc_safe(f"Build the topology “{self._title()}”.")

    def _docstring(self) -> str:
        description = self.graph.document.description or ""
        head = _doc_safe(f"{self._title()}, a topology of Millrace as a PySpark job.")
        lines: list[str] = []
        for paragraph in description.strip().splitlines():
            lines += textwrap.wrap(_doc_safe(paragraph), WIDTH, break_long_words=False) or [""]
        lines += [""] if lines else []
        lines.append("Generated from the topology's document: edit that, not this file.")
        return f'"""{head}\n\n' + "\n".join(lines) + '\n"""'

    def _import(self) -> str:
        names = sorted(self.imports, key=lambda n: (not n[0].isupper(), n))
        line = f"from {RUNTIME} import {', '.join(names)}"
        if len(line) <= WIDTH:
            return line
        return f"from {RUNTIME} import (\n" + "".join(f"    {n},\n" for n in names) + ")"

    def _main(self) -> str:
        keywords: dict[str, object] = {"name": self.graph.document.name}
        settings = {name: value for name, value in self.settings.items() if value is not None}
        if settings:
            keywords["settings"] = settings
        keywords["tasks"] = self.plan.tasks
        return layout(_call("Job.main", ast.Name("topology"), **keywords), 4)

    # ---- DataFrame blocks --------------------------------------------------------------------

    def _frames(self, sub: Subtopology) -> None:
        steps = [step for step in sub.steps if step.id in self.plan.plain]
        if not steps:
            return
        rest = len(steps) < len(sub.steps)
        where = "plain DataFrame, then stream task" if rest else "plain DataFrame"
        self._header(sub, where, 4)
        commented: set[str] = set()
        for step in steps:
            self._comment(step, commented, 4)
            self._statement(step, self._frame_call(step), 4)

    def _frame_call(self, step: Step) -> ast.expr:
        keywords = self._keywords(step)
        args = [self._value(step, f"a{i}", a) for i, a in enumerate(step.args)]
        first = ast.Constant(step.id)
        if step.source:
            return _built("job.read_stream", [first], keywords)
        assert step.receiver is not None
        frame = ast.Name(self.variables[step.receiver.step])
        doors = {"to": "job.write", "print_": "job.print_", "repartition": "job.repartition"}
        if step.op in doors:
            return _built(doors[step.op], [first, frame], keywords)
        helper = _HELPERS.get(step.op, step.op)
        self.imports.add(helper)
        inner = _built(helper, [first, *args], keywords)
        return ast.Call(ast.Attribute(frame, "transform"), [inner], [])

    # ---- stream-task blocks ------------------------------------------------------------------

    def _blocks(self) -> list[tuple[int, Subtopology]]:
        found: dict[tuple[int, int], Subtopology] = {}
        for sub in self.plan.subtopologies:
            for step in sub.steps:
                if step.id not in self.plan.plain:
                    found[self.plan.levels[step.id], sub.id] = sub
        if not found and self.plan.globals:
            sub = self.plan.subtopologies[0] if self.plan.subtopologies else Subtopology(0, [])
            found[0, sub.id] = sub
        return [(level, sub) for (level, _), sub in sorted(found.items(), key=lambda x: x[0])]

    def _task(self, level: int, sub: Subtopology) -> None:
        steps = [
            step
            for step in sub.steps
            if step.id not in self.plan.plain and self.plan.levels[step.id] == level
        ]
        where = f"stream task, level {level}" if self._deep() else "stream task"
        self._header(sub, where, 4)
        opening = _call("job.subtopology", sub.id, level=level, tasks=sub.tasks)
        self.body.add(layout(opening, 4, "with ", " as task:"), 4)
        commented: set[str] = set()
        self._globals(level, sub, steps, commented)
        for step in steps:
            self._handovers(step, commented)
            self._comment(step, commented, 8)
            self._statement(step, self._task_call(step, level, sub), 8)

    def _children(self) -> None:
        """Levels are written one after the other; a record reaches its children in their order."""
        steps = [s for s in self.plan.physical.steps.values() if s.id not in self.plan.plain]
        known = {step.id for step in steps} - {step.id for step in self.plan.globals}
        children: dict[str, dict[str, None]] = defaultdict(dict)
        for step in steps:
            for handle, _ in step.links:
                if handle.step in known:
                    children[handle.step][step.id] = None
        told = False
        for parent, found in children.items():
            written = sorted(found, key=lambda c: (self.plan.levels[c], self.plan.of_step[c]))
            if written == list(found):
                continue
            if not told:
                self.body.blank()
                self.body.add("# == Children in the order in which they get a record ==", 4)
                told = True
            call = _call("job.children", parent, *found)
            self.body.add(layout(call, 4), 4, self.plan.physical.steps[parent].node)

    def _deep(self) -> bool:
        return any(self.plan.levels.values())

    def _globals(
        self, level: int, sub: Subtopology, steps: list[Step], commented: set[str]
    ) -> None:
        """Every block has global tables of its own; those that nothing joins go to the first."""
        asked = {handle.step for step in steps for handle, _ in step.links}
        for step in self.plan.globals:
            first = not any(key[0] == step.id for key in self.globals)
            unused = not self._used(step)
            if step.id not in asked and not (unused and first):
                continue
            base = self._variable(step)
            name = base if first else self.names.take(f"{base}_{sub.id}")
            id_ = step.id if first else self._free_id(f"{step.id}-{sub.id}")
            self.globals[step.id, level, sub.id] = name
            keywords = self._keywords(step, printed=id_)
            if not first:
                keywords = {k: v for k, v in keywords.items() if k != "store"}
            call = _built("task.global_table", [ast.Constant(id_)], keywords)
            self._comment(step, commented, 8)
            before = "" if unused else f"{name} = "
            self.body.add(layout(call, 8, before), 8, step.node, *self.also[step.node])

    def _free_id(self, wanted: str) -> str:
        name, serial = wanted, 1
        while name in self.ids:
            serial += 1
            name = f"{wanted}-{serial}"
        self.ids.add(name)
        return name

    def _handovers(self, step: Step, commented: set[str]) -> None:
        """The place where a DataFrame ends and the stream task takes its records."""
        for handle, link in step.links:
            if link == "hop" or handle.step not in self.plan.plain or handle.step in self.tasked:
                continue
            frame = self.plan.physical.steps[handle.step]
            name = self.names.take(f"{self.variables[frame.id]} records")
            self.tasked[frame.id] = name
            node = ast.Constant(frame.node)
            id_ = self._free_id(f"{frame.id}-records")
            args = [ast.Constant(id_), ast.Name(self.variables[frame.id]), ast.Name("task")]
            call = _built("job.into", args, {"node": node})
            self._comment(frame, commented, 8)
            self.body.add(layout(call, 8, f"{name} = "), 8, frame.node, *self.also[frame.node])

    def _task_call(self, step: Step, level: int, sub: Subtopology) -> ast.expr:
        printed = step.id
        if step.op in _RECEIVING:
            printed = next(handle.step for handle, link in step.links if link == "hop")
        keywords = self._keywords(step, level, sub, printed)
        args: list[ast.expr] = [ast.Constant(printed)]
        args += [self._value(step, f"a{i}", a, level, sub) for i, a in enumerate(step.args)]
        receiver = self._handle(step.receiver, level, sub) if step.receiver else ast.Name("task")
        call = ast.Call(
            ast.Attribute(receiver, step.op), args, [ast.keyword(k, v) for k, v in keywords.items()]
        )
        if step.dictionary and step.ports == ("out",) and self._used(step):
            return ast.Subscript(call, ast.Constant("out"))
        return call

    def _handle(self, handle: Handle, level: int, sub: Subtopology) -> ast.expr:
        step = self.plan.physical.steps[handle.step]
        if step.op == "global_table":
            return ast.Name(self.globals[step.id, level, sub.id])
        if step.id in self.plan.plain:
            return ast.Name(self.tasked[step.id])
        name = ast.Name(self._variable(step))
        if step.dictionary and step.ports != ("out",):
            return ast.Subscript(name, ast.Constant(handle.port))
        return name

    # ---- statements ---------------------------------------------------------------------------

    def _header(self, sub: Subtopology, where: str, indent: int) -> None:
        self.body.blank()
        tasks = "1 task" if sub.tasks == 1 else f"{sub.tasks} tasks"
        self.body.add(f"# == Sub-topology {sub.id}: {tasks}, {where} ==", indent)

    def _comment(self, step: Step, commented: set[str], indent: int) -> None:
        if step.node in commented:
            return
        commented.add(step.node)
        for node in (step.node, *self.also[step.node]):
            label = _one_line(self.graph.operators[node].label)
            shown = label[: WIDTH - indent - len(node) - 10]
            self.body.add(f"# {shown} (node {node})", indent, node)

    def _statement(self, step: Step, call: ast.expr, indent: int) -> None:
        assigned = step.assigned and self._used(step)
        before = f"{self._variable(step)} = " if assigned else ""
        text = layout(call, indent, before)
        self.body.add(text, indent, step.node, *self.also[step.node])

    def _keywords(
        self,
        step: Step,
        level: int = 0,
        sub: Subtopology | None = None,
        printed: str | None = None,
    ) -> dict[str, ast.expr]:
        found = {
            name: self._value(step, name, value, level, sub)
            for name, value in step.keywords.items()
        }
        if (printed or step.id) != step.node:
            found["node"] = ast.Constant(step.node)
        return found

    def _value(
        self,
        step: Step,
        name: str,
        value: object,
        level: int = 0,
        sub: Subtopology | None = None,
    ) -> ast.expr:
        """A value of an argument as a tree."""

        def tree(item: object) -> ast.expr:
            match item:
                case Handle() if sub is not None:
                    return self._handle(item, level, sub)
                case Partitions(topic=topic):
                    return ast.Constant(self.plan.partitions[topic])
                case Constant(hint=hint, text=text):
                    return self._constant(step, hint, text)
                case Call(function=function, args=args, keywords=keywords):
                    self.imports.add(function)
                    return _built(
                        function, [tree(a) for a in args], {k: tree(v) for k, v in keywords}
                    )
                case str() if "\n" in item.strip():
                    return self._constant(step, name, item)
                case str() | bool() | int() | None:
                    return ast.Constant(item)
                case tuple():
                    return ast.Tuple([tree(i) for i in item])
                case list():
                    return ast.List([tree(i) for i in item])
                case dict():
                    keys = [ast.Constant(k) for k in item]
                    return ast.Dict([*keys], [tree(v) for v in item.values()])
            raise TypeError(f"no literal for {type(item).__name__}")

        return tree(value)

    def _constant(self, step: Step, hint: str, text: str) -> ast.expr:
        """A text of several lines, as a constant of its own above the function."""
        key = (step.node, text)
        if key not in self.constant_names:
            parameter = "expression" if hint.startswith("a") and hint[1:].isdigit() else hint
            wish = f"{self.bases[step.node]} {parameter}"
            upper = self.names.take(wish).upper()
            self.names.taken.add(upper)
            self.constant_names[key] = upper
            self.constants.blank()
            start = f"{upper} = {block_text(text)}"
            lines = start.split("\n")
            first = len(self.constants.lines) + 1
            self.constants.lines += lines
            self.constants.owners.append((step.node, first, len(self.constants.lines)))
        return ast.Name(self.constant_names[key])


# ---- small helpers -----------------------------------------------------------------------------


def _call(function: str, *args: object, **keywords: object) -> ast.Call:
    trees = [a if isinstance(a, ast.expr) else _plain(a) for a in args]
    return _built(function, trees, {k: _plain(v) for k, v in keywords.items()})


def _plain(value: object) -> ast.expr:
    if isinstance(value, dict):
        return ast.Dict([ast.Constant(k) for k in value], [_plain(v) for v in value.values()])
    assert value is None or isinstance(value, str | int | bool)
    return ast.Constant(value)


def _built(function: str, args: list[ast.expr], keywords: Mapping[str, ast.expr]) -> ast.Call:
    head, *attributes = function.split(".")
    target: ast.expr = ast.Name(head)
    for attribute in attributes:
        target = ast.Attribute(target, attribute)
    return ast.Call(target, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def _one_line(text: str) -> str:
    """Text without line ends and characters that cannot be seen."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def _doc_safe(text: str) -> str:
    """Text that can stand in a docstring."""
    return _one_line(text).replace("\\", "\\\\").replace('"""', "'''").replace('"', '\\"')


def _joined(spans: list[Span]) -> list[Span]:
    """Neighbouring spans of one node as one, in the order of lines."""
    result: list[Span] = []
    open_: dict[str, int] = {}
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        last = open_.get(span.node)
        if last is not None and result[last].end + 1 >= span.start:
            found = result[last]
            result[last] = Span(span.node, span.path, found.start, max(found.end, span.end))
            continue
        open_[span.node] = len(result)
        result.append(span)
    return result
