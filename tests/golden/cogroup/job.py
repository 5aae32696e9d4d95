"""The topology “profile”."""

from millrace_runtime import Topology, hopping, json, string

topology = Topology("profile", partitions={"clicks": 3, "buys": 3})

clicks = topology.stream("clicks", key=string(), value=string())
# Purchases
buys = topology.stream(
    "buys",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)

profile = (
    clicks.group_by_key()
    .cogroup("named_struct('clicks', agg.clicks + 1L, 'spent', agg.spent)", port="clicks")
    .cogroup(
        buys.group_by("value.country"),
        "named_struct('clicks', agg.clicks, 'spent', agg.spent + value.price)",
        port="buys",
    )
    .windowed_by(hopping("10 minutes", advance="5 minutes"))
    .aggregate(
        "STRUCT<clicks: BIGINT, spent: DOUBLE>",
        initializer="named_struct('clicks', 0L, 'spent', 0D)",
        name="profile",
    )
)

profile.to("profiles")


if __name__ == "__main__":
    topology.main()
