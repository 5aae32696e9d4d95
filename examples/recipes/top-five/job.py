"""The five products of each hour that sell best."""

from millrace_runtime import Topology, json, string, tumbling

MORE = "CASE WHEN a.n > b.n OR a.n = b.n AND a.product < b.product THEN -1 ELSE 1 END"

topology = Topology("top-five", description=__doc__)

sales = topology.stream("sales", key=string(), value=json("product STRING"))

counts = (
    # Sales of each product and hour
    sales.group_by("value.product").windowed_by(tumbling("1 hour")).count(name="counts")
)

(
    # All products of an hour
    counts.group_by(
        key="date_format(key.window.start, 'yyyy-MM-dd HH:mm')",
        value="named_struct('product', key.key, 'n', value)",
    )
    .aggregate(
        "ARRAY<STRUCT<product: STRING, n: BIGINT>>",
        initializer="CAST(array() AS ARRAY<STRUCT<product: STRING, n: BIGINT>>)",
        aggregator="concat(agg, array(value))",
        subtractor="filter(agg, each -> each.product <> value.product)",
        name="products",
    )
    # Best five
    .map_values(f"slice(array_sort(value, (a, b) -> {MORE}), 1, 5)")
    .map_values("concat_ws(', ', transform(value, each -> concat(each.product, ' ', each.n)))")
    .to("top-products")
)


if __name__ == "__main__":
    topology.main()
