"""The task graph: the JSON that the stateful operator runs, generated from the plan.

Its nodes are ordered by level, then by sub-topology. ``children`` lists the children of each step
that forwards records to them in another order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, cast

from millrace_model.graphs import GraphNode, GraphSettings, StepParams, TaskGraph

from millrace_compiler.declarations.steps import Partitions, Step
from millrace_compiler.parameters.settings import HANDLED, handler_functions
from millrace_compiler.planning.plan import Plan, Subtopology


def task_graph(plan: Plan, settings: Mapping[str, object]) -> TaskGraph:
    """Returns the task graph of a plan.

    ``tasks``: the number of tasks of the widest sub-topology or repartition topic.
    ``subtopologies``: the number of tasks of each. Durations are in milliseconds.
    """
    return _Nodes(plan).graph(settings)


def _settings(settings: Mapping[str, object]) -> GraphSettings:
    """The settings that are set, with the functions among the handlers by the kind of errors."""
    codes = {f"{kind}_function" for kind in HANDLED}
    found = {k: v for k, v in settings.items() if v is not None and k not in codes}
    functions = handler_functions(settings)
    return cast(GraphSettings, {**found, "functions": functions} if functions else found)


class _Nodes:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.nodes: list[GraphNode] = []
        self.ids = set(plan.physical.steps)
        self.globals: dict[str, str] = {}

    def graph(self, settings: Mapping[str, object]) -> TaskGraph:
        for level, sub in self._blocks():
            steps = [step for step in sub.steps if self.plan.levels[step.id] == level]
            copies = self._globals(level, sub, steps)
            for step in steps:
                self._add(step, level, sub, copies)
        hops = [int(node["params"].get("partitions", 1)) for node in self.nodes]
        return {
            "tasks": max([self.plan.tasks, *hops]),
            "subtopologies": {str(sub.id): sub.tasks for sub in self.plan.subtopologies},
            "settings": _settings(settings),
            "nodes": self.nodes,
            "children": self._children(),
        }

    def _blocks(self) -> list[tuple[int, Subtopology]]:
        subs = self.plan.subtopologies
        found = {(self.plan.levels[step.id], sub.id): sub for sub in subs for step in sub.steps}
        if not found and self.plan.globals:
            found[0, 0] = Subtopology(0, [])
        return [(level, sub) for (level, _), sub in sorted(found.items(), key=lambda x: x[0])]

    def _globals(self, level: int, sub: Subtopology, steps: list[Step]) -> dict[str, str]:
        """Adds a block's own copies of global tables; unused tables are in the first block."""
        asked = {id_ for step in steps for id_ in _needed_by(step)}
        used = {id_ for step in self.plan.physical.steps.values() for id_ in _needed_by(step)}
        copies: dict[str, str] = {}
        for step in self.plan.globals:
            first = step.id not in self.globals
            if step.id not in asked and not (first and step.id not in used):
                continue
            id_ = step.id if first else self._free_id(f"{step.id}-{sub.id}")
            self.globals.setdefault(step.id, id_)
            params = dict(step.params)
            if not first:
                params.pop("store", None)
                params["copy"] = True
                own: Any = params.get("stores", [])
                if own:
                    # Copies on the same level share its state, where each has rows of its own.
                    params["stores"] = [{**each, "state": f"{id_}-{each['node']}"} for each in own]
            copies[step.id] = id_
            self._append(step, id_, level, sub, [], params)
        return copies

    def _free_id(self, wanted: str) -> str:
        name, serial = wanted, 1
        while name in self.ids:
            serial += 1
            name = f"{wanted}-{serial}"
        self.ids.add(name)
        return name

    def _add(self, step: Step, level: int, sub: Subtopology, copies: Mapping[str, str]) -> None:
        parents = [[copies.get(h.step, h.step), h.port] for h, _ in step.links]
        params = dict(self._params(step))
        if step.stores_read:
            read = step.stores_read.items()
            params["tables"] = [{"name": name, "step": copies.get(id_, id_)} for name, id_ in read]
        self._append(step, step.id, level, sub, parents, params)

    def _params(self, step: Step) -> Iterator[tuple[str, object]]:
        for name, value in step.params.items():
            if isinstance(value, Partitions):
                yield name, self.plan.partitions[value.topic]
            else:
                yield name, value

    def _append(
        self,
        step: Step,
        id_: str,
        level: int,
        sub: Subtopology,
        parents: list[list[str]],
        params: dict[str, object],
    ) -> None:
        self.nodes.append(
            {
                "id": id_,
                "node": step.node,
                "op": step.op,
                "sub": sub.id,
                "level": level,
                "parents": parents,
                "params": cast(StepParams, params),
            }
        )

    def _children(self) -> dict[str, list[str]]:
        """Children of the steps that do not forward records in the order of the nodes."""
        known = set(self.plan.levels)
        children: dict[str, dict[str, None]] = defaultdict(dict)
        for step in self.plan.physical.steps.values():
            for handle, _ in step.links:
                if handle.step in known and step.id in known:
                    children[handle.step][step.id] = None
        place = {node["id"]: index for index, node in enumerate(self.nodes)}
        return {
            parent: list(found)
            for parent, found in children.items()
            if sorted(found, key=place.__getitem__) != list(found)
        }


def _needed_by(step: Step) -> list[str]:
    """The steps whose records or stores a step uses."""
    return [*(handle.step for handle, _ in step.links), *step.stores_read.values()]
