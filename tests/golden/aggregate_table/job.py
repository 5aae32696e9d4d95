"""The topology “points-per-team”."""

from millrace_runtime import Topology, json, string

topology = Topology("points-per-team", partitions={"players": 3})

players = topology.table("players", key=string(), value=json("team STRING, points INT"))
# Points per team
teams = players.group_by("value.team", "value.points").aggregate(
    "BIGINT", initializer="0L", aggregator="agg + value", subtractor="agg - value", name="teams"
)
teams.to("teams")


if __name__ == "__main__":
    topology.main()
