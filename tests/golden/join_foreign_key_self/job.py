"""The topology “managers”."""

from millrace_runtime import Topology, json, string

topology = Topology("managers", partitions={"staff": 2})

staff = topology.table("staff", key=string(), value=json("name STRING, manager STRING"))
# With the manager
managed = staff.join(
    staff,
    foreign_key="value.manager",
    joiner="named_struct('name', left.name, 'manager', right.name)",
    name="managed",
)
managed.to("managed")


if __name__ == "__main__":
    topology.main()
