"""What streams and tables have in common: steps on single records, and processors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar, Unpack, cast, overload

from millrace_compiler.declarations.functions import RECORD, REKEYING
from millrace_compiler.types.types import DataType

from millrace_runtime.code.code import ProcessorCode, ProcessorSource, code_of
from millrace_runtime.code.places import calling
from millrace_runtime.dsl.arguments import require
from millrace_runtime.dsl.functions import (
    Expression,
    Runs,
    Site,
    needed,
    output_of,
    record,
    typed,
)
from millrace_runtime.dsl.handles import Handle, Writable
from millrace_runtime.dsl.nodes import About
from millrace_runtime.dsl.stores import Store
from millrace_runtime.functions.given_types import SqlType, sql_type
from millrace_runtime.functions.translate import CONDITION

S = TypeVar("S", bound=Handle)
T = TypeVar("T", bound=Handle)


class GlobalTable(Handle):
    """A GlobalKTable: fully replicated to every task; can be joined with streams."""


#: Further inputs of a processor: of the same types, or by the method that gets their records.
Also: TypeAlias = Sequence[Writable] | Mapping[str, Writable | Sequence[Writable]]


def _by_method(also: Also) -> dict[str, Sequence[Writable]]:
    if not isinstance(also, Mapping):
        return {"process": also}
    return {name: [of] if isinstance(of, Writable) else of for name, of in also.items()}


class Records(Writable, Generic[S, T]):
    """A stream, or the updates of a table. `S`: the class of streams, `T`: of tables."""

    def _stream(self, node: str, port: str = "out") -> S:
        raise NotImplementedError

    def peek(self, message: Expression, **about: Unpack[About]) -> S:
        """Log a message (a STRING expression) for each record and forward it unchanged.

        A function is called for each record instead; what it returns is ignored.
        """
        return self._stateless("peek", "message", message, about)

    def foreach(self, action: Callable[..., Any], **about: Unpack[About]) -> None:
        """Call a function for each record; what it returns is ignored. Nothing follows."""
        self._stateless("peek", "message", action, about)

    def merge(self, *others: S | T, **about: Unpack[About]) -> S:
        """Merge streams: the records of all of them, in the order of processing."""
        made = self._add("merge", {}, about, inputs=[(other, "in") for other in others])
        return self._stream(made)

    def split(
        self,
        branches: Mapping[str, Expression],
        *,
        default: str | None = None,
        **about: Unpack[About],
    ) -> dict[str, S]:
        """Return a stream for each branch; a record goes to the first whose predicate is true.

        `default`: name of the branch for records without a match (default: they are dropped).
        """
        require(branches, Mapping, "split takes predicates by the names of their branches")
        node = about.get("name")
        functions = self._nodes.functions
        sites = {port: self._site("split", f"branches.{port}", CONDITION) for port in branches}
        found = {
            port: functions.text_or_runs(each, sites[port], node) for port, each in branches.items()
        }
        if any(isinstance(each, Runs) for each in found.values()):
            named = node or self._nodes.free_id("split")
            code = functions.branching(branches, sites, default, named)
            ports = [*branches, *([default] if default else [])]
            more = About(**{**about, "name": named})
            split = self._process("process_values", code, None, None, ports, (), (), more)
            return cast("dict[str, S]", split)
        listed = [{"port": port, "predicate": each} for port, each in found.items()]
        made = self._add("split", {"branches": listed, "default_port": default}, about)
        ports = [*branches, *([default] if default else [])]
        return {port: self._stream(made, port) for port in ports}

    @overload
    def process(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, Any] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: None = None,
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> S: ...
    @overload
    def process(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, object] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: Sequence[str],
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> dict[str, S]: ...
    def process(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, object] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: Sequence[str] | None = None,
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> S | dict[str, S]:
        """Process records with a Python class, which may change keys.

        `processor`: a class of this program or of a module beside it, an instance such as
        `Enrich(threshold=3)`, or `"file.py:Class"` for a file that is read without being imported,
        with its `arguments`. `key_type`, `value_type`: Spark SQL types of the forwarded records
        (default: the input's types). `outputs`: names of the output ports; if set, a stream is
        returned for each. `stores`: stores of its own, and tables, aggregations and global tables,
        whose stores it can read. `also`: further input streams of the same types or, of other
        types, by the method of the class that gets their records: `{"on_payment": payments}`.
        """
        made = code_of(processor, calling(), arguments)
        return self._process("process", made, key_type, value_type, outputs, stores, also, about)

    @overload
    def process_values(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, object] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: None = None,
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> S: ...
    @overload
    def process_values(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, object] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: Sequence[str],
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> dict[str, S]: ...
    def process_values(
        self,
        processor: ProcessorSource,
        *,
        arguments: Mapping[str, object] | None = None,
        key_type: SqlType | None = None,
        value_type: SqlType | None = None,
        outputs: Sequence[str] | None = None,
        stores: Sequence[Store | T | GlobalTable] = (),
        also: Also = (),
        **about: Unpack[About],
    ) -> S | dict[str, S]:
        """Like `process`, for a processor that keeps keys unchanged: no repartition follows."""
        made = code_of(processor, calling(), arguments)
        return self._process(
            "process_values", made, key_type, value_type, outputs, stores, also, about
        )

    def _process(
        self,
        kind: str,
        code: ProcessorCode,
        key_type: SqlType | None,
        value_type: SqlType | None,
        outputs: Sequence[str] | None,
        stores: Sequence[Store | T | GlobalTable],
        also: Also,
        about: About,
    ) -> S | dict[str, S]:
        if isinstance(outputs, str | Mapping):
            raise TypeError(
                f"{kind}(outputs=...) takes a list of names, found {outputs!r}. All outputs have "
                "the types key_type= and value_type=."
            )
        output = {
            name: None if given is None else sql_type(given, f"{name}_type=")
            for name, given in (("key", key_type), ("value", value_type))
        }
        methods = _by_method(also)
        params = {
            **code.params,
            "output": {name: type_ for name, type_ in output.items() if type_ is not None},
            "outputs": list(outputs) if outputs is not None else None,
            "inputs": [name for name in methods if name != "process"] or None,
        }
        inputs = [
            (other, "in" if name == "process" else name)
            for name, found in methods.items()
            for other in found
        ]
        made = self._add(kind, params, about, inputs=inputs, stores=stores)
        self._nodes.outside.codes[made] = code
        if outputs is None:
            return self._stream(made)
        return {port: self._stream(made, port) for port in outputs}

    def _site(
        self,
        method: str,
        parameter: str,
        expects: DataType | None = None,
        *,
        present: bool = False,
    ) -> Site:
        """A parameter whose functions are called with a record of this stream or table."""
        columns = record(self._nodes.functions.port(self._end), present=present)
        return Site(method, parameter, columns, RECORD, expects)

    def _stateless(
        self,
        method: str,
        parameter: str,
        given: Expression,
        about: About,
        *,
        expects: DataType | None = None,
        returns: SqlType | None = None,
    ) -> S:
        """Add a node with an expression, or the processor of a function that cannot be one."""
        functions, node = self._nodes.functions, about.get("name")
        site = replace(self._site(method, parameter, expects), pairs=method == "flat_map")
        site = typed(site, returns, given, functions, node)
        found = functions.text_or_runs(given, site, node)
        if isinstance(found, Runs):
            return self._run(found, site, returns, about)
        return self._stream(self._add(method, {parameter: found}, about))

    def _run(self, runs: Runs, site: Site, returns: SqlType | None, about: About) -> S:
        """Add the processor that calls a function for each record."""
        functions, node = self._nodes.functions, about.get("name")
        code = functions.code(runs, site, node)
        output: dict[str, str] = {}
        if site.method not in ("filter", "filter_not", "peek"):
            type_ = functions.returns(runs, site, node, returns)
            made = output_of(site.method, type_)
            if made is None:
                raise functions.error(
                    site, node, f"{site.method} needs {needed(site.method)}, found {type_.text}."
                )
            output = made
        named = About(
            **{**about, "name": node or self._nodes.free_id(site.method.replace("_", "-"))}
        )
        kind = "process" if site.method in REKEYING else "process_values"
        stream = self._process(
            kind, code, output.get("key"), output.get("value"), None, (), (), named
        )
        return cast("S", stream)
