"""Sensors that have sent nothing for five minutes."""

from millrace_runtime import (
    WALL_CLOCK_TIME,
    Processor,
    Record,
    Topology,
    key_value_store,
    long,
    string,
)

MINUTE = 60_000


class Silence(Processor):
    """Reports a key once, five minutes after its last record."""

    def init(self, context):
        self.context = context
        self.last = context.store("last")
        context.schedule("1 minute", WALL_CLOCK_TIME, self.check)

    def process(self, record):
        self.last.put(record.key, self.context.current_system_time())

    def check(self, now):
        for sensor, heard in list(self.last.all()):
            if now - heard >= 5 * MINUTE:
                self.context.forward(Record(sensor, heard, now))
                self.last.delete(sensor)


topology = Topology("silence", description=__doc__)

readings = topology.stream("readings", key=string(), value=string())
last = key_value_store("last", key_type="STRING", value_type="BIGINT")

silent = readings.process(Silence, stores=[last], value_type="BIGINT", name="silence")
silent.to("silent-sensors", value=long())


if __name__ == "__main__":
    topology.main()
