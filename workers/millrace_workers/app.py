"""The Celery application. All tasks are short; none of them waits for a stream."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "millrace_backend.settings")

app = Celery("millrace", broker=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0"))
app.conf.update(
    task_ignore_result=True,
    # A step is safe to repeat: state lives in the database and in the process table.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # A step that loses the broker is canceled; the next tick repeats it.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    task_soft_time_limit=120,
    task_time_limit=150,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    worker_hijack_root_logger=False,
    broker_transport_options={"visibility_timeout": 300},
    beat_schedule={
        task.replace("_", "-"): {
            "task": f"millrace_workers.tasks.{task}",
            "schedule": seconds,
            "options": {"expires": expires},
        }
        # A tick that could not be delivered in time is worthless; the next one does its work.
        for task, seconds, expires in (
            ("reconcile_due", 1.0, 5),
            ("record_figures", 5.0, 5),
            ("follow_schedules", 5.0, 5),
            ("sync_due", 10.0, 10),
            ("forget_old_access", 3600.0, 3600),
            ("forget_old_state", 3600.0, 3600),
        )
    },
)
app.autodiscover_tasks(["millrace_workers"])
