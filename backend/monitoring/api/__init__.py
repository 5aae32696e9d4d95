"""The API of the monitoring app."""
