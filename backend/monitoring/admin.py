"""The monitoring app has nothing to show in the admin pages."""
