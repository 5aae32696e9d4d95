"""A processor that records its close in a file: `python closing_job.py IN OUT FILE ...`."""

import os
import sys
import tempfile
from pathlib import Path

from millrace_runtime import Topology, string

CODE = """
class Noting(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)

    def close(self):
        with open({file!r}, "a") as file:
            file.write("closed\\n")
"""

if __name__ == "__main__":
    source, target, file = (sys.argv.pop(1) for _ in range(3))
    topology = Topology("closing", partitions={source: 2})
    records = topology.stream(source, key=string(), value=string(), name="in")
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "noting.py")
        code.write_text(CODE.format(file=file))
        place = os.path.relpath(code, Path(__file__).parent)
        noted = records.process_values(f"{place}:Noting", value_type="STRING", name="noting")
    noted.to(target, key=string(), value=string())
    topology.main()
