"""Looks up names of orders in a global table: `python named_orders_job.py PREFIX ...`."""

import sys

from millrace_runtime import Topology, string

if __name__ == "__main__":
    prefix = sys.argv.pop(1)
    text = string()
    topology = Topology("named-orders", partitions={f"{prefix}orders": 2})
    names = topology.global_table(f"{prefix}names", key=text, value=text, name="names")
    orders = topology.stream(f"{prefix}orders", key=text, value=text, name="orders")
    joiner = "coalesce(right, 'nameless')"
    named = orders.left_join(names, key="value", joiner=joiner, name="named")
    named.to(f"{prefix}out", key=text, value=text)
    topology.main()
