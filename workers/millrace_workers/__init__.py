"""Celery workers: they deploy topologies to Spark, keep them running, and stop them."""
