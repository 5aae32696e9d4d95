"""points-per-team, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, long, string


def topology(job: Job) -> None:
    """Build the topology “points-per-team”."""
    # == Sub-topology 0: 3 tasks, stream task, level 0 ==
    with job.subtopology(0, level=0, tasks=3) as task:
        # Players (node players)
        players = task.table(
            "players", topic="players", key=string(), value=json("team STRING, points INT")
        )
        # Points per team (node teams)
        players.group_by(
            "teams-repartition", key="value.team", value="value.points", partitions=3, node="teams"
        )

    # == Sub-topology 1: 3 tasks, stream task, level 1 ==
    with job.subtopology(1, level=1, tasks=3) as task:
        # Points per team (node teams)
        points_per_team_repartitioned = task.grouped_table("teams-repartition", node="teams")
        points_per_team = points_per_team_repartitioned.aggregate(
            "teams",
            type="BIGINT",
            initializer="0L",
            aggregator="agg + value",
            subtractor="agg - value",
        )
        # To a topic (node out)
        out_updates = points_per_team.to_stream("out-to-stream", node="out")
        out_updates.to("out", topic="teams", key=string(), value=long())


if __name__ == "__main__":
    Job.main(topology, name="points-per-team", tasks=3)
