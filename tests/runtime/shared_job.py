"""A word count for hosts: `python shared_job.py IN OUT --checkpoint ...`.

The words `fill:N` make an array of N numbers. The words `hold:N:M` hold N bytes while they count to
M * M, which nothing can interrupt.
"""

import sys

from millrace_runtime import Topology, key_value_store, long, string

VALUE = """
    case when value like 'fill:%'
         then cast(size(sequence(1, cast(substr(value, 6) as int))) as string)
         when value like 'hold:%'
         then aggregate(
             sequence(1, cast(split_part(value, ':', 3) as int)),
             repeat(left(value, 1), cast(split_part(value, ':', 2) as int)),
             (held, i) -> if(
                 aggregate(
                     sequence(1, cast(split_part(value, ':', 3) as int)), 0L, (a, x) -> a + x
                 ) < 0,
                 '', held
             ),
             held -> left(held, 1)
         )
         else value end
"""

if __name__ == "__main__":
    source, target = sys.argv.pop(1), sys.argv.pop(1)
    topology = Topology("shared", processing_guarantee="exactly_once")
    words = topology.stream(source, key=string(), value=string()).map_values(VALUE)
    counts = words.group_by("value").count(store=key_value_store("counts", id="counts"))
    counts.to_stream().to(target, key=string(), value=long())
    topology.main()
