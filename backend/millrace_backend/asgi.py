"""The ASGI application."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "millrace_backend.settings")
django.setup(set_prefix=False)

# Models can be imported only after django.setup().
from deployments import watch  # noqa: E402
from topologies import compiling  # noqa: E402

from millrace_backend.bodies import BodyLimit  # noqa: E402
from millrace_backend.handler import ThreadHandler  # noqa: E402

application = BodyLimit(ThreadHandler())

watch.start()
compiling.pool().warm()
