"""What a running job or a simulation reports: counts, latencies, samples and traces."""
