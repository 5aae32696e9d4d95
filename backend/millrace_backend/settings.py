"""Django settings; everything that differs between machines comes from ``environment``."""

import os
from datetime import timedelta
from typing import Any

import structlog

from millrace_backend import environment, logs, quota_table

ENVIRONMENT = environment.read()
REPOSITORY = environment.REPOSITORY

DEBUG = ENVIRONMENT.debug
SECRET_KEY = environment.secret_key(ENVIRONMENT.secret_file)
ALLOWED_HOSTS = environment.allowed_hosts(ENVIRONMENT)
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT.public_url]

QUOTAS = quota_table.read(os.environ)
MILLRACE_DATA = ENVIRONMENT.data
MILLRACE_PUBLIC_URL = ENVIRONMENT.public_url
MILLRACE_PROXIES = ENVIRONMENT.proxies
MILLRACE_WEBHOOK_NETWORKS = ENVIRONMENT.webhook_networks
MILLRACE_GIT_ROOTS = ENVIRONMENT.git_roots
MILLRACE_GIT_PASSWORDS = ENVIRONMENT.git_passwords
MILLRACE_ANALYZER = ENVIRONMENT.analyzer
MILLRACE_SIMULATOR = ENVIRONMENT.simulator
#: the simulator that reads stores of checkpoints and runs no documents
MILLRACE_STORE_READER = ENVIRONMENT.store_reader
MILLRACE_GENERATORS = ENVIRONMENT.generators
MILLRACE_PAGE = ENVIRONMENT.page
MILLRACE_OPERATOR_JAR = ENVIRONMENT.operator_jar
REDIS_URL = ENVIRONMENT.redis_url
KAFKA_BOOTSTRAP_SERVERS = ENVIRONMENT.kafka
KAFKA_CLIENTS = ENVIRONMENT.kafka_clients

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "drf_spectacular",
    "knox",
    "axes",
    "csp",
    "accounts",
    "topologies",
    "deployments",
    "records",
    "catalog",
    "monitoring",
    "live",
]
MIDDLEWARE = [
    "millrace_backend.clients.ClientMiddleware",
    "millrace_backend.middleware.RequestLogMiddleware",
    "millrace_backend.middleware.NoStoreMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "millrace_backend.middleware.PageMiddleware",
    "millrace_backend.middleware.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "millrace_backend.urls"
ASGI_APPLICATION = "millrace_backend.asgi.application"
DATABASES = {"default": environment.database(ENVIRONMENT)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "millrace:cache",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
}
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
#: languages of the messages of Django and DRF; the page translates all others
LANGUAGES = [("en", "English"), ("zh-hans", "中文")]
APPEND_SLASH = False

# -- mail -------------------------------------------------------------------------------------
MILLRACE_MAIL = ENVIRONMENT.smtp_url is not None
DEFAULT_FROM_EMAIL = ENVIRONMENT.mail_from
EMAIL_TIMEOUT = 10
_MAIL = environment.mail_server(ENVIRONMENT.smtp_url or "smtp://localhost")
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL.scheme == "smtps", _MAIL.scheme == "smtp+starttls"

# -- people -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
ACCESS_KEPT = timedelta(days=ENVIRONMENT.access_days)
AUDIT_KEPT = timedelta(days=ENVIRONMENT.audit_days)
OLD_STATE_KEPT = (
    None if ENVIRONMENT.old_state_days is None else timedelta(days=ENVIRONMENT.old_state_days)
)
SPARK_MASTER = ENVIRONMENT.spark_master
SPARE_MEMORY_MB = ENVIRONMENT.spare_memory_mb
SIGN_IN_LINK_LIFETIME = timedelta(hours=12)
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=10)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "millrace_backend.errors.locked_out"
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "millrace_backend.clients.address_of"
# The audit log contains sign-ins, with its own retention.
AXES_DISABLE_ACCESS_LOG = True
KNOX_TOKEN_MODEL = "accounts.ApiToken"
REST_KNOX = {"TOKEN_TTL": timedelta(days=30), "AUTO_REFRESH": False, "TOKEN_PREFIX": "mr_"}

# -- API --------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["millrace_backend.parsers.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "millrace_backend.paging.Paging",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "millrace_backend.throttling.AnonymousThrottle",
        "millrace_backend.throttling.UserThrottle",
        "millrace_backend.throttling.ScopeThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": "120/minute",
        "user": "1200/minute",
        "sign-in": "30/minute",
        "compile": "600/minute",
        "simulate": "120/minute",
    },
    "EXCEPTION_HANDLER": "millrace_backend.errors.handle",
    "NUM_PROXIES": 0,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Millrace",
    "DESCRIPTION": "Draw Kafka Streams topologies, run them on Spark, watch them.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api",
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "millrace_backend.schema.add_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "Role": "accounts.choices.Role",
        "Desired": "deployments.choices.Desired",
        "Observed": "deployments.choices.Observed",
        "StepState": "deployments.choices.StepState",
        "Outcome": "deployments.choices.Outcome",
        "Environment": "deployments.choices.Environment",
        "Target": "deployments.choices.Target",
        "StartFrom": "deployments.choices.StartFrom",
        "ScheduleAction": "deployments.choices.ScheduleAction",
        "StartPosition": "deployments.choices.Position",
        "ResetPart": "deployments.choices.Reset",
        "ColdReason": "deployments.choices.ColdReason",
        "ShadowStart": "deployments.choices.ShadowStart",
        "ComparisonState": "deployments.choices.ComparisonState",
        "OutputDifference": "deployments.choices.OutputDifference",
        "StoreChangeVerdictEnum": "deployments.choices.StoreVerdict",
        "SourceChangeVerdictEnum": "deployments.choices.SourceVerdict",
        "StartWarningCode": "deployments.choices.StartWarning",
        "Severity": "topologies.choices.Severity",
        "Blocks": "topologies.choices.Blocks",
        "Cut": "topologies.choices.Cut",
        "SimulationStateEnum": "topologies.choices.Ran",
        "RecordDifference": "topologies.choices.RecordDifference",
        "PlainVerdict": "topologies.choices.PlainVerdict",
        "OutsideChangeKind": "topologies.choices.OutsideChange",
        "LogLevel": "deployments.choices.LogLevel",
        "MoveReason": "monitoring.choices.MoveReason",
        "AlertCondition": "monitoring.choices.Condition",
        "AlertState": "monitoring.choices.AlertState",
        "AlertEvent": "monitoring.choices.AlertEvent",
        "AlertChannel": "monitoring.choices.Channel",
        "DeliveryState": "monitoring.choices.DeliveryState",
        "RecordFormat": "records.choices.RecordFormat",
        "KeyFormat": "records.choices.KEY_FORMATS",
    },
    "DISABLE_ERRORS_AND_WARNINGS": False,
}
#: maximum size of a request body in bytes; the largest useful document has some 2 MB
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024

# -- security ---------------------------------------------------------------------------------
_TLS = ENVIRONMENT.public_url.startswith("https://")
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _TLS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = _TLS
CSRF_FAILURE_VIEW = "millrace_backend.errors.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _TLS else None
SECURE_HSTS_SECONDS = int(timedelta(days=30).total_seconds()) if _TLS else 0
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        # The component kit writes sizes and colors as inline styles.
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        # The layout engine runs in a web worker created from the page's own bundle.
        "worker-src": ["'self'", "blob:"],
        "connect-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
        "base-uri": ["'self'"],
        "object-src": ["'none'"],
    }
}

# -- the built page ---------------------------------------------------------------------------
WHITENOISE_ALLOW_ALL_ORIGINS = False
# The page's HTML is served by its own view, which forbids caching.
WHITENOISE_INDEX_FILE = False

# -- logs -------------------------------------------------------------------------------------
LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                logs.mask,
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
            "foreign_pre_chain": [
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        }
    },
    # The response names a service that is not available (503); the request's own line is enough.
    "filters": {
        "defects": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", 500) != 503,
        },
        "refused": {"()": "django.utils.log.CallbackFilter", "callback": logs.without_trace},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "json",
            "filters": ["refused"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Rejected requests are answered with the reason; the operator need not see them.
        "django.request": {"level": "ERROR", "filters": ["defects"]},
        "django.security": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
        # Several similar Celery tasks run each second: only failures are logged.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.filter_by_level,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
