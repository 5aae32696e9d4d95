"""Functions that run in Python where a node's expressions call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from millrace_compiler.types.types import BOOLEAN, DataType

from millrace_runtime.code.code import ProcessorCode, packed
from millrace_runtime.code.places import Place, calling
from millrace_runtime.dsl.arguments import SqlType
from millrace_runtime.dsl.definitions import Definitions, OtherFile
from millrace_runtime.dsl.functions import Functions, Runs, Site, shown, typed
from millrace_runtime.functions import returned
from millrace_runtime.functions.references import called_by_name
from millrace_runtime.functions.source import NoSource, Source
from millrace_runtime.functions.translate import CONDITION

if TYPE_CHECKING:
    from millrace_runtime.dsl.nodes import Nodes

#: Types of what functions return, by the parameter, or of the only one whose type is not known.
Returns = Mapping[str, SqlType] | SqlType | None
#: Names that Spark's parser takes for something else than a function.
_QUOTED = frozenset(
    {"any", "array", "case", "cast", "ceil", "collate", "exists", "extract", "filter", "first",
     "floor", "identifier", "interval", "last", "left", "map", "not", "overlay", "position",
     "right", "some", "struct", "substr", "substring", "timestampadd", "timestampdiff", "trim",
     "date_add", "date_diff", "dateadd", "datediff"}
)  # fmt: skip
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True)
class _Use:
    """A function, and the expression that calls it: `name(columns)`, or a part of the result."""

    given: Any
    runs: Runs
    site: Site
    name: str
    type: DataType

    @property
    def text(self) -> str:
        quoted = f"`{self.name}`" if self.name.lower() in _QUOTED else self.name
        call = f"{quoted}({', '.join(self.runs.columns)})"
        element = self.site.element
        return call if element is None else f"{call}.{('key', 'value')[element]}"

    @property
    def part(self) -> DataType:
        """The type of the expression."""
        element = self.site.element
        return self.type if element is None else self.type.inner[element]


class Called:
    """The functions of one node that are not translated, and the calls of them.

    Each expression that is such a function becomes the text `add(key, value, agg)`. The functions
    are definitions of one file. If they are of several, it is the program's, where those of other
    files are called by the name that they have there.
    """

    def __init__(self, functions: Functions, returns: Returns = None) -> None:
        self._functions, self._given = functions, returns
        self._definitions: Definitions | None = None
        self._names: dict[int, str] = {}
        self._uses: list[_Use] = []
        #: texts that were returned before the functions moved to the program's file
        self._texts: dict[str, str] = {}
        self.returns: dict[str, str] = {}

    def copy(self) -> Called:
        """The functions so far, for one of several nodes."""
        made = Called(self._functions, self._given)
        made._names, made._uses, made.returns = {**self._names}, [*self._uses], {**self.returns}
        made._texts = {**self._texts}
        made._definitions = self._definitions.copy() if self._definitions else None
        return made

    def text(
        self, given: Any, site: Site, node: str | None = None, result: DataType | None = None
    ) -> Any:
        """The text of an expression, or the call of a function. Raises ProgramError.

        `result`: the type that a function returns, if the node needs one but casts others.
        """
        functions = self._functions
        wanted = typed(site, self._returns(site), given, functions, node)
        found = functions.text_or_runs(given, wanted, node)
        if not isinstance(found, Runs):
            return found
        type_ = self._type(found, replace(site, expects=site.expects or result), node)
        return self._used(given, found, site, type_, node).text

    def _used(self, given: Any, runs: Runs, site: Site, type_: DataType, node: str | None) -> _Use:
        name = self._name(given, runs, site, node)
        before = self.returns.setdefault(name, type_.text)
        if before != type_.text:
            message = f"{shown(runs.source)} returns {before} elsewhere in this node."
            raise self._functions.error(site, node, message)
        use = _Use(given, runs, site, name, type_)
        self._functions.note(use.text, site, use.part)
        self._uses.append(use)  # which also keeps the object: the id() of a deleted one is reused
        return use

    def added_to(self, params: Mapping[str, object]) -> dict[str, object]:
        """The parameters of a node with the code of the functions."""
        code = self.code
        if code is None:
            return dict(params)
        made = {name: self._moved(value) for name, value in params.items()}
        return {**made, "functions": code.text, "returns": dict(self.returns)}

    def _moved(self, value: object) -> object:
        """A parameter, or a part of it, with the names that functions have in the end."""
        if isinstance(value, str):
            return self._texts.get(value, value)
        if isinstance(value, dict):
            return {name: self._moved(each) for name, each in value.items()}
        return [self._moved(each) for each in value] if isinstance(value, list) else value

    def keep(self, nodes: Nodes, node: str) -> None:
        """Keep where the functions of a node stand, whose lines errors name."""
        code = self.code
        if code is not None:
            nodes.outside.called[node] = code

    @property
    def code(self) -> ProcessorCode | None:
        """The functions with what they use; None if there are none."""
        if self._definitions is None:
            return None
        names = tuple(self.returns)
        text = self._definitions.text(*names, spaced=True)
        lines = self._definitions.lines(*names)
        return packed(text, names[0], self._definitions.path, lines, calling())

    def _returns(self, site: Site) -> SqlType | None:
        given = self._given
        if isinstance(given, Mapping):
            return given.get(site.parameter)
        return given if site.expects is None else None

    def _type(self, runs: Runs, site: Site, node: str | None) -> DataType:
        functions = self._functions
        if site.expects == CONDITION:
            return BOOLEAN
        given = self._returns(site)
        pairs = site.element is not None
        if site.expects is None or given is not None:
            return functions.returns(runs, site, node, given, pairs=pairs)
        found, how = returned.annotated(runs.source.function), "by its annotation"
        if found is None:
            found, how = functions.sampled(runs, site), "for samples of its inputs"
        if found is not None and not _fits(found, site):
            message = f"{shown(runs.source)} returns {found.text} {how}"
            raise functions.error(site, node, f"{message}, but {_needs(site)} is needed.")
        return site.expects

    def _name(self, given: Any, runs: Runs, site: Site, node: str | None) -> str:
        known = self._names.get(id(given))
        if known is not None:
            return known
        base = _base(site)
        try:
            name = self._added(runs.source, base)
        except OtherFile as error:
            if self._moved_to(calling(), node) and runs.source.file == calling().file:
                return self._name(given, runs, site, node)
            name = self._added_by_name(given, runs, site, node, base, error)
        except NoSource as error:
            name = self._added_by_name(given, runs, site, node, base, error)
        self._names[id(given)] = name
        return name

    def _moved_to(self, place: Place, node: str | None) -> bool:
        """Define the functions so far in the program's file; return whether they moved."""
        if self._definitions is None or self._definitions.path == place.file:
            return False
        uses, self._uses = self._uses, []
        self._definitions, self._names, self.returns = Definitions.of_program(place), {}, {}
        for use in uses:
            made = self._used(use.given, use.runs, use.site, use.type, node)
            self._texts = {old: made.text if new == use.text else new
                           for old, new in self._texts.items()} | {use.text: made.text}  # fmt: skip
        return True

    def _added(self, source: Source, base: str) -> str:
        if self._definitions is None:
            self._definitions = Definitions([(source, base)])
            return self._definitions.names[-1]
        return self._definitions.add(source, base)

    def _added_by_name(
        self, given: Callable[..., Any], runs: Runs, site: Site, node: str | None, base: str,
        error: NoSource,
    ) -> str:  # fmt: skip
        """The name of what calls a decorated function by its own name."""
        try:
            if runs.source.called and runs.source.file == calling().file:
                raise error
            return self._added(called_by_name(given, site.binding, calling()), base)
        except NoSource:
            message = (
                f"{shown(runs.source)} cannot be an expression, because {runs.reason}; and it "
                f"cannot run in Python, because {error}."
            )
            raise self._functions.error(site, node, message) from None


def _needs(site: Site) -> str:
    """The type that a function has to return, for messages."""
    if site.parameter == "timestamp":
        return "an int of ms or a datetime"
    return "" if site.expects is None else site.expects.text


def _base(site: Site) -> str:
    """The name of a lambda."""
    names = {"value": site.method, "key": "group_key"} if site.method != "group_by" else {}
    name = names.get(site.parameter, site.parameter)
    if site.method == "map":
        name = f"map_{site.parameter}"
    if site.method == "stream":
        name = "time_of"
    if site.method == "group_by":
        name = "group" if site.element is not None else f"group_{site.parameter}"
    return name.replace(".", "_").replace("-", "_")


def _fits(found: DataType, site: Site) -> bool:
    """Whether a value of a type may be one of a site; each result is checked when it runs."""
    expects = site.expects
    if expects is None or (site.parameter == "timestamp" and found.name in ("DATE", "STRING")):
        return expects is None
    if found.name in _NUMBERS and expects.name in _NUMBERS:
        return found.name not in ("FLOAT", "DOUBLE") or expects.name in ("FLOAT", "DOUBLE")
    times = ("TIMESTAMP", "TIMESTAMP_NTZ", "DATE", "BIGINT", "STRING")
    if expects.name in times[:3] and found.name in times:
        return True
    return found.name == expects.name or {found.name, expects.name} == {"STRUCT", "MAP"}
