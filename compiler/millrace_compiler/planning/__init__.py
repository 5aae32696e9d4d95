"""From a typed graph to the plan and the task graph: steps, levels, tasks, internal topics."""
