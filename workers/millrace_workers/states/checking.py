"""Check the cluster and its topics before the job starts."""

from millrace_compiler.needs import topics_of, with_partitions

from millrace_workers.model import Deployment, Failure
from millrace_workers.states.compiling import refuse
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Topics that are missing are created if the deployment may, else it is refused."""
    if not deployment.wants_to_run:
        return "stopping"
    tools.record.step("check", "running")
    create = bool(deployment.settings.get("create_topics"))
    needed = topics_of(deployment.document)
    try:
        found = tools.topics.ensure({need.topic: need.partitions for need in needed}, create)
    except ConnectionError as error:
        return refuse(deployment, tools, "check", Failure("broker_unreachable", str(error)))
    except RuntimeError as error:
        return refuse(deployment, tools, "check", Failure("kafka_refused", str(error)))
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
            tools.topics.ensure(between, create=True)
        except ConnectionError as error:
            return refuse(deployment, tools, "check", Failure("broker_unreachable", str(error)))
        except RuntimeError as error:
            return refuse(deployment, tools, "check", Failure("kafka_refused", str(error)))
    differing = [
        f"{need.topic} has {found[need.topic]} partitions, the topology declares {need.partitions}"
        for need in needed
        if need.assumed and found[need.topic] != need.partitions
    ]
    tools.record.step("check", "done", "; ".join(differing) or None)
    return "staging"
