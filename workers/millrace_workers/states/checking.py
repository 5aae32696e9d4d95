"""Check the cluster and its topics before the job starts."""

from collections.abc import Iterable, Mapping

from millrace_compiler.graphs.needs import Need, topics_of, with_partitions

from millrace_workers.model import Cause, Deployment, Failure, Rejected, Unanswered
from millrace_workers.outages import Away
from millrace_workers.states.compiling import refuse
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Create missing topics if the deployment allows it; otherwise refuse the deployment."""
    if not deployment.wants_to_run:
        return "stopping"
    tools.record.step("check", "running")
    create = bool(deployment.settings.get("create_topics"))
    needed = topics_of(deployment.document)
    try:
        found = _ensure(tools, {need.topic: need.partitions for need in needed}, create=create)
    except Rejected as error:
        return refuse(deployment, tools, "check", error.failure)
    missing = next((need for need in needed if need.topic not in found), None)
    if missing is not None:
        message = (
            f"There is no topic “{missing.topic}” on the cluster. Correct its name, create it, or "
            "deploy with “create_topics”."
        )
        failure = Failure(
            "topic_missing",
            message,
            missing.node,
            missing.parameter,
            facts={"topic": missing.topic},
        )
        return refuse(deployment, tools, "check", failure)
    document = with_partitions(deployment.document, found)
    failure_by_shape = tools.compiler.check(
        document, real_time=deployment.real_time, plain=deployment.plain
    )
    if failure_by_shape is not None:
        return refuse(deployment, tools, "check", failure_by_shape)
    if deployment.plain:
        tasks = max(found.values(), default=1)
        between = dict.fromkeys(tools.compiler.between(document), tasks)
        try:
            _ensure(tools, between, create=True)
        except Rejected as error:
            return refuse(deployment, tools, "check", error.failure)
    tools.record.step("check", "done", _differing(needed, found))
    return "staging"


def _ensure(tools: Tools, needed: Mapping[str, int], *, create: bool) -> dict[str, int]:
    try:
        return tools.topics.ensure(needed, create)
    except Unanswered as error:
        tools.record.step("check", "running", error.cause)
        raise Away(error.cause) from error


def _differing(needed: Iterable[Need], found: Mapping[str, int]) -> Cause | None:
    """Report topics whose partition counts differ from those that the topology declares."""
    others = [each for each in needed if each.assumed and found[each.topic] != each.partitions]
    if not others:
        return None
    sentences = [
        f"{each.topic} has {found[each.topic]} partitions, the topology declares {each.partitions}"
        for each in others
    ]
    topics = [f"{each.topic}: {found[each.topic]} ≠ {each.partitions}" for each in others]
    return Cause("partitions_differ", "; ".join(sentences), facts={"topics": "; ".join(topics)})
