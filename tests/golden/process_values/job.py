"""The topology “trimmed”."""

from millrace_runtime import Processor, Topology, string


class Trim(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=record.value.strip()))


topology = Topology("trimmed")

lines = topology.stream("lines", key=string(), value=string())
count = lines.process_values(Trim, value_type="STRING", name="trim").group_by_key().count()
count.to("lengths")


if __name__ == "__main__":
    topology.main()
