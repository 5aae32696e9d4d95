"""Users whose sign-in has failed three times in a row."""

from millrace_runtime import Topology, integer, json, string

topology = Topology("three-failures", description=__doc__)

sign_ins = topology.stream("sign-ins", key=string(), value=json("ok BOOLEAN"))

failures = (
    # Failures since the last success
    sign_ins.group_by_key().aggregate(
        "INT",
        initializer="0",
        aggregator="CASE WHEN value.ok THEN 0 ELSE agg + 1 END",
        name="failures",
    )
)

# Third in a row
failures.to_stream().filter("value = 3").to("locked-users", value=integer())


if __name__ == "__main__":
    topology.main()
