"""A word count for hosts: `python shared_job.py IN OUT --checkpoint ...`.

The words `fill:N` make an array of N numbers.
"""

import sys

from millrace_runtime import Topology, key_value_store, long, string

VALUE = """
    case when value like 'fill:%'
         then cast(size(sequence(1, cast(substr(value, 6) as int))) as string)
         else value end
"""

if __name__ == "__main__":
    source, target = sys.argv.pop(1), sys.argv.pop(1)
    topology = Topology("shared", processing_guarantee="exactly_once")
    words = topology.stream(source, key=string(), value=string()).map_values(VALUE)
    counts = words.group_by("value").count(store=key_value_store("counts", id="counts"))
    counts.to_stream().to(target, key=string(), value=long())
    topology.main()
