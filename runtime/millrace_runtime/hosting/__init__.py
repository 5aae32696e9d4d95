"""A host: one JVM with one Spark that runs the queries of several deployments.

The JVM belongs to the *keeper*, a process of the host. Each deployment has a driver process of its
own, as without a host; instead of starting a JVM, it *joins* that of the keeper and gets a session,
a gateway with a secret, a log and a pool of the scheduler there (`Host.scala`). The connection over
which it has joined shows that it lives: when it is closed, the keeper ends the queries of its run.
"""
