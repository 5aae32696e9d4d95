"""The ASGI application."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "millrace_backend.settings")
django = get_asgi_application()

# Models can be imported only after get_asgi_application().
from deployments import watch  # noqa: E402
from topologies import compiling  # noqa: E402

from millrace_backend.bodies import BodyLimit  # noqa: E402

application = BodyLimit(django)

watch.start()
compiling.pool().warm()
