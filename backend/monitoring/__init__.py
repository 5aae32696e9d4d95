"""What is seen of running deployments over time: figures, moves of tasks, alerts."""
