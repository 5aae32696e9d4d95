"""The monitoring app publishes no events: pages request figures."""
