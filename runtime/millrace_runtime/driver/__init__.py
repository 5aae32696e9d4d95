"""The driver: the process that runs a job's query, from its command line to its end."""
