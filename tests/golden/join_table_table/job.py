"""accounts, a topology of Millrace as a PySpark job.

Generated from the topology's document: edit that, not this file.
"""

from millrace_runtime import Job, json, key_value_store, long, string


def topology(job: Job) -> None:
    """Build the topology “accounts”."""
    # == Sub-topology 0: 2 tasks, stream task ==
    with job.subtopology(0, level=0, tasks=2) as task:
        # Names (node names)
        names = task.table("names", topic="names", key=string(), value=string())
        # Balances (node balances)
        balances = task.table("balances", topic="balances", key=string(), value=long())
        # Account (node account)
        account = names.join_table(
            "account",
            balances,
            type="outer",
            joiner="named_struct('owner', key, 'name', left, 'balance', coalesce(right, 0L))",
            store=key_value_store("accounts", persistent=False),
        )
        # To a topic (node out)
        out_updates = account.to_stream("out-to-stream", node="out")
        out_updates.to(
            "out",
            topic="accounts",
            key=string(),
            value=json("owner STRING, name STRING, balance BIGINT"),
        )


if __name__ == "__main__":
    Job.main(topology, name="accounts", tasks=2)
