"""Running deployments over time: figures, moves of tasks, alerts."""
