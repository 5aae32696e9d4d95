"""The Celery tasks: thin, repeatable, and never waiting for a stream.

This is the only module that accesses the backend's data: through ``deployments.reconciling`` and
``deployments.schedules``, ``monitoring`` for figures and alerts, ``topologies.verifying`` for
verifications, ``topologies.git.syncing`` for git repositories, and ``accounts.retention`` for
deletion by age.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import redis
from accounts.retention import forget_old
from deployments import reconciling, schedules
from monitoring import alerting, notifying, recording
from redis.exceptions import LockError, RedisError
from redis.lock import Lock
from topologies import verifying
from topologies.git import syncing

from millrace_workers import traces
from millrace_workers.app import app
from millrace_workers.cluster import KafkaTopics
from millrace_workers.configuration import Configuration
from millrace_workers.jobs import Jobs
from millrace_workers.launchers import Launcher, LocalLauncher
from millrace_workers.model import Cause, Deployment, Failure, Outage, Process, Run, Start
from millrace_workers.monitors import Reports
from millrace_workers.states import TRANSITIONS, Tools, step
from millrace_workers.states.tools import RunExists
from millrace_workers.streams import KafkaStreams

log = logging.getLogger(__name__)

#: maximum number of steps in one call; the next tick continues
STEPS_AT_ONCE = 12
#: seconds for which a worker that died in a step blocks its deployment
LOCK_SECONDS = 20
#: interval of a worker's heartbeat during a step
PULSE_SECONDS = 4.0


@app.task(name="millrace_workers.tasks.reconcile_due")
def reconcile_due() -> None:
    """Queue a step for every deployment that is not at rest and every comparison that is due."""
    for deployment in reconciling.due_for_reconcile():
        reconcile.apply_async(args=(deployment,), expires=10)
    for comparison in reconciling.comparisons_due():
        compare_outputs.apply_async(args=(comparison,), expires=10)


@app.task(name="millrace_workers.tasks.record_figures")
def record_figures() -> None:
    """Record what drivers reported last, then evaluate alert rules and queue due notifications."""
    try:
        recording.record_all()
    except RedisError as error:
        log.warning("metrics could not be recorded: %s", error)
    alerting.check_all()
    for delivery in notifying.due():
        deliver.apply_async(args=(delivery,), expires=30)


@app.task(name="millrace_workers.tasks.deliver")
def deliver(delivery_id: int) -> None:
    """Send a notification of an alert; it is retried later if it is not accepted."""
    notifying.deliver(delivery_id)


@app.task(name="millrace_workers.tasks.verify")
def verify(verification: str) -> None:
    """Advance a comparison with Kafka Streams by one step, and schedule the next one."""
    try:
        pause = verifying.advance(verification, kafka_streams())
        if pause is not None:
            verify.apply_async(args=(verification,), countdown=pause)
    except RedisError as error:
        log.warning("verification %s could not be advanced: %s", verification, error)


@app.task(name="millrace_workers.tasks.send_trace")
def send_trace(start: Start) -> None:
    """Send the trace of a start that is done or has failed (`traces`)."""
    traces.send(start)


@app.task(name="millrace_workers.tasks.compare_outputs")
def compare_outputs(shadow_id: int) -> None:
    """Advance a comparison of outputs by one step, and queue the next one."""
    if reconciling.compare_outputs(shadow_id):
        compare_outputs.apply_async(args=(shadow_id,))


@app.task(name="millrace_workers.tasks.forget_old_access")
def forget_old_access() -> None:
    """Delete used links, ended sessions and old audit entries (`accounts.retention`)."""
    deleted = {kind: count for kind, count in forget_old().items() if count}
    if deleted:
        log.info("deleted after their retention: %s", deleted)


@app.task(name="millrace_workers.tasks.forget_old_state")
def forget_old_state() -> None:
    """Delete state that deployments left when they were moved or reset, after some days."""
    reconciling.forget_old_state()


@app.task(name="millrace_workers.tasks.follow_schedules")
def follow_schedules() -> None:
    """Start and stop the deployments whose time has come (`deployments.schedules`)."""
    schedules.apply_due()


@app.task(name="millrace_workers.tasks.sync_due")
def sync_due() -> None:
    """Queue the work on every git repository that is due."""
    for repository in syncing.due():
        sync_repository.apply_async(args=(repository,), expires=30)


@app.task(name="millrace_workers.tasks.sync_repository", soft_time_limit=270, time_limit=285)
def sync_repository(repository: int) -> None:
    """Fetch a workspace's git repository, and push versions that wait as commits."""
    syncing.sync(repository)


@app.task(name="millrace_workers.tasks.reconcile")
def reconcile(deployment_id: int) -> None:
    """Step a deployment until its state no longer changes; only one worker at a time does so."""
    with _alone(deployment_id) as alone, _without_redis(deployment_id):
        if not alone:
            return
        for _ in range(STEPS_AT_ONCE):
            found = reconciling.load_for_reconcile(deployment_id)
            if found is None or not visible(found, launcher()):
                return
            reconciling.heartbeat(deployment_id)
            if found.run is not None:
                # A restarted Redis has no users for reports.
                reports().grant(found.run.report_id)
            left = step(found, tools_for(found))
            if left is None:
                return
            if left not in TRANSITIONS[found.observed]:
                raise RuntimeError(f"{found.observed} may not lead to {left}")
            if not reconciling.observe(deployment_id, left, found=found.observed):
                return


def visible(deployment: Deployment, here: Launcher) -> bool:
    """Whether this host can poll the driver; a driver of another host is polled there."""
    run = deployment.run
    return run is None or here.sees(deployment.directory, run.process)


class DatabaseRecord:
    """Records the result of a step in the backend."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    def step(self, name: str, state: str, detail: Cause | None = None) -> None:
        """Record the state of a step, and send the trace of a start that has ended."""
        changed = reconciling.record_step(self._deployment.id, name, state, detail)
        ended = state == "failed" or (name, state) == ("start", "done")
        if changed and ended and traces.enabled():
            send_trace.apply_async(args=(reconciling.last_start(self._deployment.id),), expires=60)

    def fail(self, failure: Failure) -> None:
        """Record the failure that the page shows at its node."""
        log.warning("deployment %s: %s", self._deployment.id, failure.message)
        reconciling.record_failure(self._deployment.id, failure.as_json())

    def clear_failure(self) -> None:
        """Remove the failure."""
        reconciling.record_failure(self._deployment.id, None)

    def outage(self, outage: Outage) -> None:
        """Record what the deployment waits for."""
        log.warning("deployment %s waits: %s", self._deployment.id, outage.message)
        reconciling.record_outage(self._deployment.id, outage.as_json())

    def begin_run(
        self, process: Process, epoch: int, report_id: str, *, standby: bool = False
    ) -> Run:
        """Record a running driver."""
        try:
            return reconciling.begin_run(
                self._deployment.id,
                process.pid,
                process.host,
                process.born,
                epoch,
                report_id=report_id,
                version=self._deployment.version,
                standby=standby,
            )
        except reconciling.LiveRunExists as error:
            raise RunExists(str(error)) from error

    def standby_changed(self) -> None:
        """Show the standby, whose notes are files."""
        reconciling.standby_changed(self._deployment.id)

    def end_run(self, outcome: str, failure: Failure | None = None) -> None:
        """Record the end of the driver, and revoke its access to Redis."""
        reconciling.end_run(
            self._deployment.id, outcome, None if failure is None else failure.as_json()
        )
        if self._deployment.run is not None:
            reports().revoke(self._deployment.run.report_id)

    def keep_version(self, version: int) -> None:
        """Request the running version again."""
        reconciling.keep_version(self._deployment.id, version)

    def fall_back(self) -> int | None:
        """Request the previous version again."""
        return reconciling.fall_back(self._deployment.id)

    def delete(self) -> None:
        """Delete a shadow that has ended: its topics, its folder and its row."""
        reconciling.delete_ended(self._deployment.id)

    def arrived(self) -> None:
        """Record the first batch of the requested version."""
        reconciling.arrived(self._deployment.id)


def tools_for(deployment: Deployment) -> Tools:
    """Return the real tools of a step."""
    here = configuration()
    return Tools(
        launcher=launcher(),
        reports=reports(),
        record=DatabaseRecord(deployment),
        compiler=jobs(),
        topics=KafkaTopics(here.bootstrap_servers, here.kafka_clients),
        now=time.time,
        driver_arguments=driver_arguments,
        host=host_of,
        jobs_kept=here.jobs_kept,
        silent_seconds=here.silent_seconds,
        degraded_seconds=here.degraded_seconds,
        cold=cold,
        free_space=lambda folder: shutil.disk_usage(folder).free,
    )


def cold(deployment: Deployment) -> Cause | None:
    """Return why a change's driver cannot be prepared beside the running one, if so."""
    return reconciling.cold_reason(
        deployment.settings, deployment.directory, paused=deployment.paused
    )


def driver_arguments(deployment: Deployment) -> tuple[str, ...]:
    """Return the command line arguments for the broker and the Spark master.

    Without a cluster, Spark gets as many threads as the deployment may use. In real-time mode each
    task has a thread, and most of these wait, so the job chooses their number.
    """
    here = configuration()
    cores = None if deployment.real_time else deployment.settings.get("cores")
    master = here.spark_master or (f"local[{cores}]" if cores else "")
    return (
        "--bootstrap-servers",
        here.bootstrap_servers,
        *(("--master", master) if master else ()),
        # Otherwise the first deployment would take the whole cluster, and the second would wait.
        *(
            ("--spark-config", f"spark.cores.max={cores}")
            if cores and here.spark_master.startswith("spark://")
            else ()
        ),
    )


def host_of(deployment: Deployment) -> str | None:
    """Return the group of deployments that share a JVM; with a cluster, each has its own."""
    master = configuration().spark_master
    return deployment.host if not master or master.startswith("local") else None


@cache
def configuration() -> Configuration:
    """This process's configuration."""
    return Configuration.from_environment()


@cache
def launcher() -> LocalLauncher:
    """One launcher for each worker process, as it keeps its children."""
    here = configuration()
    return LocalLauncher(
        here.data, log_bytes=here.driver_log_bytes, host_memory_mb=here.host_memory_mb
    )


@cache
def reports() -> Reports:
    """One Redis connection pool for each worker process."""
    return Reports(configuration().redis_url)


@cache
def kafka_streams() -> KafkaStreams:
    """Kafka Streams itself, below the data folder."""
    return KafkaStreams(configuration().data)


@cache
def jobs() -> Jobs:
    """Return this worker process's compiler, a single process."""
    found = configuration()
    return Jobs(found.analyzer, found.runtime, found.operator_jar)


def _pulse(deployment_id: int, lock: Lock, done: threading.Event) -> None:
    """Keep the lock and send heartbeats for the deployment during a step."""
    while not done.wait(PULSE_SECONDS):
        try:
            lock.extend(LOCK_SECONDS, replace_ttl=True)
            reconciling.heartbeat(deployment_id)
        except (LockError, RedisError) as error:
            log.warning("deployment %s: %s", deployment_id, error)


@contextmanager
def _without_redis(deployment_id: int) -> Iterator[None]:
    """Give up a step if Redis does not respond; the next tick repeats it."""
    try:
        yield
    except RedisError as error:
        log.warning("deployment %s could not be checked: %s", deployment_id, error)


@contextmanager
def _alone(deployment_id: int) -> Iterator[bool]:
    """Yield whether this call is the only one that steps the deployment."""
    client = redis.Redis.from_url(configuration().redis_url, socket_timeout=5)
    # The lock is extended by another thread than the one that acquired it.
    name = f"millrace:reconcile:{deployment_id}"
    lock = client.lock(name, timeout=LOCK_SECONDS, thread_local=False)
    try:
        if not lock.acquire(blocking=False):
            yield False
            return
        done = threading.Event()
        pulse = threading.Thread(target=_pulse, args=(deployment_id, lock, done), daemon=True)
        pulse.start()
        try:
            yield True
        finally:
            done.set()
            pulse.join()
            try:
                lock.release()
            except LockError:
                log.info("deployment %s: the step outlived its lock", deployment_id)
    except RedisError as error:
        # Without Redis there is no broker either: the next tick that arrives tries again.
        log.warning("deployment %s could not be checked: %s", deployment_id, error)
        yield False
    finally:
        client.close()
