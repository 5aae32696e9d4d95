# mypy: ignore-errors
"""Constants and classes that all generators use."""

KEYS = ["a", "b", "c", "d"]
STRUCT = "STRUCT<g: STRING, n: BIGINT, s: STRING>"


class Out:
    """An output port: its types, and the properties that decide which steps can follow."""

    def __init__(
        self,
        node,
        role,
        key,
        value,
        port="out",
        topics=frozenset(),
        hops=0,
        rekeyed=False,
        window=None,
        grace=0,
        final=False,
        versioned=0,
        unordered=False,
        windowset=None,
        cogrouped=False,
    ):
        self.node, self.role, self.key, self.value, self.port = node, role, key, value, port
        self.topics, self.hops, self.rekeyed, self.window, self.grace = (
            topics,
            hops,
            rekeyed,
            window,
            grace,
        )
        self.final, self.versioned, self.unordered, self.windowset, self.cogrouped = (
            final,
            versioned,
            unordered,
            windowset,
            cogrouped,
        )
        self.used = 0

    def like(self, node, **change):
        o = Out(self.node, self.role, self.key, self.value)
        o.__dict__.update(self.__dict__)
        o.__dict__.update({"node": node, "port": "out", "used": 0, **change})
        return o
