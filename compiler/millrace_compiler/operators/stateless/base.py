"""Ports and the base class of stateless operators."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Scope
from millrace_compiler.declarations.ports import InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stores.fit import check_store

STREAM_IN = (InPort("in", ("stream",)),)
STREAM_OUT = (OutPort("out", "stream"),)
STREAM_OR_TABLE = (InPort("in", ("stream", "table")),)


class StreamOrTable(Calling):
    """Base class of operators on a stream or a table; the resulting table can have a store."""

    in_ports = STREAM_OR_TABLE
    out_ports = (OutPort("out", "same"),)
    takes_store = ("store.key_value", "store.versioned")

    @property
    def calls_for_streams(self) -> bool:
        """Whether its expressions can call functions for the records of a stream."""
        return False

    def result(self, scope: Scope, port: Port) -> Port:
        """The output port; checks the store, which determines whether the table is versioned.

        Without a store, the table counts as not versioned, although lookups in it are answered by
        the versioned table before it, as of any time.
        """
        check_store(scope, self.takes_store if port.role == "table" else (), port)
        if port.role == "stream" and self.called_functions and not self.calls_for_streams:
            scope.fault("functions_of_stream", "functions")
        if port.role == "table":
            return replace(port, history=self.history)
        return port

    def lower_over(
        self, to: NodeLowering, *, changes: Literal["value"] | None = None, **params: object
    ) -> Handle:
        """Adds the operator's step, on a stream or a table; ``changes``: of a stream."""
        handle = to.input()
        if handle.role == "stream":
            return to.step(self.kind, handle, changes=changes, params=params)
        made = to.step(
            self.kind,
            handle,
            role="table",
            keeps=self.keeps(),
            params=params,
            store=self.store_json(),
        )
        return made if self.store else made.looked_up_in(handle)
