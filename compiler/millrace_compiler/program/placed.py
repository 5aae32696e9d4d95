"""Places the Python code of processors and handlers: in the program, or in modules beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from millrace_compiler.declarations.calls import Call, Processor
from millrace_compiler.declarations.functions import Called
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.parameters.modules import files_of, imported
from millrace_compiler.parameters.settings import HANDLED, handler_functions
from millrace_compiler.program.classes import bound_by, bound_names, is_plain, is_same, own_code
from millrace_compiler.program.identities import slug
from millrace_compiler.program.names import Names

PROGRAM = "job.py"


class Placed:
    """The code of a topology's nodes and settings.

    ``classes``: the name of each class in the program, or ``"file.py:Name"``. ``code``: texts of
    the program, each with its nodes. ``functions``: the function of a code that has no class.
    ``files``: those beside the program.
    """

    def __init__(self, settings: Mapping[str, object], names: Names) -> None:
        self.settings, self.names = settings, names
        self.classes: dict[tuple[str, str], str] = {}
        self.code: list[tuple[str, list[str]]] = []
        self.functions: dict[str, str] = {}
        modules = settings.get("modules")
        self.modules: dict[str, str] = dict(modules) if isinstance(modules, dict) else {}
        self.files: dict[str, str] = files_of(self.modules)

    def place(
        self, operators: Iterable[Operator], nodes: Mapping[str, list[str]] | None = None
    ) -> None:
        """Puts classes that only contain definitions into the program, others into own modules.

        ``nodes``: what the nodes of a fragment run as.
        """
        for operator in operators:
            owners = (nodes or {}).get(operator.id, [operator.id])
            self._place_called(operator, list(owners))
            for call in operator.words():
                for arg in _arguments(call):
                    if isinstance(arg, Processor):
                        self._place(arg, operator.id, owners)

    def place_handlers(self) -> None:
        """Puts the functions that handle errors into the program, like classes."""
        for kind, function in handler_functions(self.settings).items():
            found = Processor(function["code"], function["name"])
            self._place_class(found, f"{kind}_errors", [])

    def called(self, operator: Operator) -> Called | None:
        """The function in the program that takes the place of a processor's class."""
        found = operator.words()[-1].args[:1] if operator.runs_python else ()
        for arg in found:
            if isinstance(arg, Processor) and arg.called is not None:
                placed = self.classes[arg.code, arg.class_name]
                return arg.called if placed == arg.called.function else None
        return None

    def words(self, operator: Operator) -> list[Call]:
        """The calls of a node, with functions in place of expressions if the program has them."""
        made = operator.words_with_functions()
        code = str(operator.values.get("functions"))
        placed = all((code, name) in self.classes for name in operator.called_functions)
        return made if made is not None and placed else operator.words_with_code()

    def _place_called(self, operator: Operator, nodes: list[str]) -> None:
        """Puts the functions that a node's expressions call into the program, if they fit."""
        code, names = str(operator.values.get("functions")), tuple(operator.called_functions)
        if operator.words_with_functions() is None:
            return
        if all((code, name) in self.classes for name in names):
            next((o for text, o in self.code if names[0] in bound_names(text)), []).extend(nodes)
        else:
            new = self._new_part(code, *names)
            if new is not None:
                self.classes |= {(code, name): name for name in names}
                self.code.append((new, nodes))
                self.names.taken |= bound_names(code)

    def arguments(self) -> dict[str, object]:
        """The settings as arguments: functions among the handlers, and modules nobody imports."""
        found = {k: v for k, v in self.settings.items() if v is not None and k != "modules"}
        functions = handler_functions(self.settings)
        for kind in HANDLED:
            found.pop(f"{kind}_function", None)
            if kind in functions:
                function = functions[kind]
                found[f"{kind}_handler"] = Processor(function["code"], function["name"])
        codes = [code for code, _ in self.classes]
        unused = [name for name in self.modules if name not in imported(codes, self.modules)]
        return {**found, "modules": unused} if unused else found

    def _place(self, found: Processor, base: str, owners: list[str]) -> None:
        placed = (found.code, found.class_name) in self.classes
        if not placed and found.called and self._place_function(found, found.called, owners):
            return
        self._place_class(found, base, list(owners))

    def _place_class(self, found: Processor, base: str, owner: list[str]) -> None:
        """``owner``: the node; ``base``: the name of a module of its own."""
        key = (found.code, found.class_name)
        if key in self.classes:
            return
        for code, owners in self.code:
            if code == found.code and is_same(own_code(code, found.class_name) or "", code):
                self.classes[key] = found.class_name
                owners.extend(owner)
                return
        if self._fits(found.code, found.class_name):
            self.classes[key] = found.class_name
            self.code.append((found.code, owner))
            self.names.taken |= bound_names(found.code)
            return
        stem = self.names.take(slug(base).replace("-", "_") or "processor")
        path = f"{stem}.py"
        while path == PROGRAM or path in self.files:
            path = f"{PurePath(path).stem}_.py"
        self.files[path] = found.code
        self.classes[key] = f"{path}:{found.class_name}"

    def _place_function(self, found: Processor, called: Called, nodes: list[str]) -> bool:
        """Puts a function that a class only calls into the program, in place of the class."""
        for code, owners in self.code:
            if code == called.code and self.functions.get(code) == called.function:
                owners.extend(nodes)
                break
        else:
            if not self._fits(called.code, called.function):
                return False
            self.code.append((called.code, list(nodes)))
            self.names.taken |= bound_names(called.code)
            self.functions[called.code] = called.function
        self.classes[found.code, found.class_name] = called.function
        return True

    def _new_part(self, code: str, *names: str) -> str | None:
        """What the program lacks of the code of functions; ``None`` if it cannot be in it.

        The program may have some of its statements already: imports, constants, functions.
        """
        if self._fits(code, *names):
            return code
        before = "\n\n\n".join(text.strip("\n") for text, _ in self.code)
        known = {ast.unparse(each) for each in ast.parse(before).body}
        new = [each for each in ast.parse(code).body if ast.unparse(each) not in known]
        lines = code.split("\n")
        text = "\n\n\n".join("\n".join(lines[e.lineno - 1 : e.end_lineno]) for e in new)
        own = {name for each in new for name in bound_by(each)}
        free = own.isdisjoint(self.names.taken) and own.isdisjoint(self.names.words)
        whole = f"{before}\n\n\n{text}\n" if text else f"{before}\n"
        sound = (
            free
            and is_plain(code, annotated=True)
            and all(x.isprintable() or x == "\n" for x in text)
        )
        return text if sound and is_same(own_code(whole, *names, spaced=True) or "", code) else None

    def _fits(self, code: str, *names: str) -> bool:
        made = own_code(code, *names)
        if made is None or not is_same(made, code) or not is_plain(code, annotated=True):
            return False
        own = bound_names(code)
        free = own.isdisjoint(self.names.taken) and own.isdisjoint(self.names.words)
        return free and all(x.isprintable() or x == "\n" for x in code)


def _arguments(call: Call) -> Iterator[object]:
    """The arguments of a call, and those of calls among them."""
    for arg in call.args:
        yield arg
        if isinstance(arg, Call):
            yield from _arguments(arg)
